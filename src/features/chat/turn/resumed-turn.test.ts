/** A turn goes on from each state that was recorded of it. */
import { describe, expect, it } from 'vitest'
import type { Tool } from '#models/tools/tool.ts'
import { streamWithRetry } from '#models/transport/call-with-retry.ts'
import { immediately } from '#test/support/collect-answer.ts'
import { type ScriptedStep, scriptedModel } from '#test/support/scripted-model.ts'
import { runTurn } from './run-turn.ts'
import type { TurnEvent } from './turn.ts'
import type { TurnInput } from './turn-input.ts'
import type { TurnState } from './turn-state.ts'

const call = (toolName: string, n: number) => ({ toolName, toolCallId: `own${toolName}${n}`, input: { n } })

/** Two calls at once, one that is repeated and one of no tool, thoughts, an answer in between, and the answer. */
const script: readonly ScriptedStep[] = [
  [{ reasoning: 'Hm.' }, 'First.', call('read', 1), call('write', 2)],
  [call('write', 2), call('none', 3)],
  ['Second.', call('write', 4)],
  ['Third.'],
]

async function run(options: Partial<TurnInput> = {}, behind = 0) {
  const ran: string[] = []
  const tool = (name: string, isReading: boolean): Tool => ({
    name,
    description: 'd',
    parameters: { type: 'object', properties: {} },
    check: async () => undefined,
    async execute({ n }) {
      ran.push(`${name} ${n}`)
      return { done: n }
    },
    ...(isReading && { readsOnly: async () => true }),
  })
  const events: TurnEvent[] = []
  const model = scriptedModel(script.slice(behind))
  const outcome = await runTurn({
    stream: given => streamWithRetry(model, given, immediately),
    contextWindow: 128_000,
    temperature: 0,
    maxIterations: 8,
    isTainted: false,
    tools: [tool('read', true), tool('write', false)],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Go' }] }],
    emit: event => events.push(event),
    signal: new AbortController().signal,
    newToolCallId: (known = 'own') => known,
    ...options,
  })
  return { outcome, events, ran, prompts: model.calls.map(({ prompt }) => prompt) }
}

async function recorded() {
  const states: { state: TurnState; events: number }[] = []
  const whole = await run()
  const again: TurnEvent[] = []
  await run({
    emit: event => again.push(event),
    record: async state => {
      states.push({ state: JSON.parse(JSON.stringify(state)), events: again.length })
    },
  })
  expect(again).toEqual(whole.events)
  return { whole, states }
}

describe('a turn that goes on from a recorded state', () => {
  it('is recorded before and after each call', async () => {
    const { states } = await recorded()
    const steps = states.map(
      ({ state }) => `${state.iteration} ${state.hasBegun ? 'in' : 'after'} ${state.toolResults.length}`,
    )
    expect(steps).toEqual([
      ...['1 in 0', '1 after 1', '1 in 1', '2 after 2', '2 in 2'],
      ...['2 after 3', '2 in 3', '3 after 4', '3 in 4', '4 after 5'],
    ])
  })

  it.each(Array.from({ length: 10 }, (_, at) => at))('ends as the whole turn, from state %i on', async at => {
    const { whole, states } = await recorded()
    const { state, events } = states[at] as (typeof states)[number]
    const asked = state.added.filter(({ role }) => role === 'assistant').length
    const interrupted = state.hasBegun ? state.calls[state.results.length] : undefined
    const { outcome, events: rest, ran, prompts } = await run({ from: state }, asked)
    const finished = state.toolResults.filter(({ error }) => error === undefined).length
    const mayHaveRun = interrupted?.toolName === 'write' && !isRepeat(state)
    // Neither those with a result nor one that may have run.
    expect(ran).toEqual(whole.ran.slice(finished + (mayHaveRun ? 1 : 0)))
    if (!mayHaveRun) {
      expect(outcome).toEqual(whole.outcome)
      expect(rest).toEqual(whole.events.slice(events))
      expect(prompts).toEqual(whole.prompts.slice(asked))
      return
    }
    const lost = outcome.toolResults.filter(({ error }) => error?.includes('may have done its work'))
    expect(lost).toMatchObject([{ toolCallId: interrupted?.toolCallId }])
    expect({ ...outcome, toolResults: [] }).toEqual({ ...whole.outcome, toolResults: [] })
    expect(rest.map(({ type }) => type)).toEqual(whole.events.slice(events).map(({ type }) => type))
  })
})

it('ends at a decision that ends it, from any state that is recorded', async () => {
  const { states } = await recorded()
  const from = {
    ...(states[0] as (typeof states)[number]).state,
    decision: { error: 'Late.', ends: true as const },
  }
  const later: TurnState[] = [from]
  const record = async (state: TurnState) => void later.push(JSON.parse(JSON.stringify(state)))
  await run({ from, record }, 1)
  for (const state of later) {
    const { outcome, ran } = await run({ from: state }, 1)
    expect(outcome.end).toMatchObject({ kind: 'failed', error: { code: 'APPROVAL_EXPIRED' } })
    expect(ran).toEqual([])
  }
})

/** The second call with the same arguments never runs. */
function isRepeat({ iteration, results }: TurnState): boolean {
  return iteration === 2 && results.length === 0
}
