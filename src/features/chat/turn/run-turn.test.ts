import { describe, expect, it } from 'vitest'
import type { AnswerPart, CallOptions } from '#models/language-model/language-model.ts'
import type { Tool } from '#models/tools/tool.ts'
import { streamWithRetry } from '#models/transport/call-with-retry.ts'
import { AppError } from '#platform/errors.ts'
import { limitRow } from '#test/spec/row.ts'
import { handedOver, immediately } from '#test/support/collect-answer.ts'
import { gate, type ScriptedModel, type ScriptedStep, scriptedModel } from '#test/support/scripted-model.ts'
import { runTurn } from './run-turn.ts'
import type { TurnEvent, TurnOutcome } from './turn.ts'
import type { TurnInput } from './turn-input.ts'

/** Answers with its query, and keeps count. */
function echo(more: Partial<Tool> = {}): Tool & { ran: Record<string, unknown>[] } {
  const ran: Record<string, unknown>[] = []
  return {
    name: 'echo',
    description: 'Says it again.',
    parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
    check: async ({ query }) =>
      typeof query === 'string' ? undefined : 'The argument query must be string.',
    execute: async input => {
      ran.push(input)
      return { said: input.query }
    },
    ran,
    ...more,
  }
}

interface Played {
  outcome: TurnOutcome
  events: TurnEvent[]
  model: ScriptedModel
}

async function play(steps: readonly ScriptedStep[], options: Partial<TurnInput> = {}): Promise<Played> {
  const model = scriptedModel(steps)
  const events: TurnEvent[] = []
  let ids = 0
  const outcome = await runTurn({
    stream: call => streamWithRetry(model, call, immediately),
    contextWindow: 128_000,
    temperature: 0.5,
    tools: [echo()],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Go' }] }],
    isTainted: false,
    emit: event => events.push(event),
    signal: new AbortController().signal,
    maxIterations: 8,
    newToolCallId() {
      ids += 1
      return `id-${ids}`
    },
    ...options,
  })
  return { outcome, events, model }
}

const types = (events: TurnEvent[]) => events.map(({ type }) => type)
const callOf = (query: unknown, toolName = 'echo') => ({ toolName, input: { query } })
const answered = { kind: 'answered' }

function lengthOf(text: unknown, limit: number): string | number {
  const { length } = String(text)
  return length <= limit && length > limit - 10 ? 'just below' : length
}

const cutNote = /^.*\n\[… \d+ characters left out …\]\n.*$/s

/** The results that the model saw in its last prompt. */
function resultsSeen({ calls }: ScriptedModel): unknown[] {
  const messages = calls.at(-1)?.prompt ?? []
  return messages.flatMap(message =>
    message.role === 'tool'
      ? message.content.map(part => part.type === 'tool-result' && Reflect.get(part.output, 'value'))
      : [],
  )
}

describe('an answer in text', () => {
  it('is told piece by piece, counted from 0', async () => {
    const { outcome, events } = await play([['Hel', 'lo']])
    expect(events).toEqual([
      { type: 'thinking', iteration: 1 },
      { type: 'content_delta', delta: 'Hel', index: 0 },
      { type: 'content_delta', delta: 'lo', index: 1 },
    ])
    expect(outcome).toMatchObject({ content: 'Hello', toolCalls: [], toolResults: [], end: answered })
  })

  it('may be empty, and has no empty pieces', async () => {
    const { outcome, events } = await play([['', '']])
    expect(types(events)).toEqual(['thinking'])
    expect(outcome).toMatchObject({ content: '', end: answered })
  })

  it('is told without U+0000, which not every database can hold', async () => {
    const { outcome, events } = await play([['a\u0000', '\u0000', 'b']])
    expect(events.filter(({ type }) => type === 'content_delta')).toEqual([
      { type: 'content_delta', delta: 'a', index: 0 },
      { type: 'content_delta', delta: 'b', index: 1 },
    ])
    expect(outcome).toMatchObject({ content: 'ab', end: answered })
  })

  it('asks with the tools, the temperature and the messages', async () => {
    const { model } = await play([['Hello']])
    expect(model.calls[0]).toMatchObject({
      temperature: 0.5,
      toolChoice: { type: 'auto' },
      tools: [{ type: 'function', name: 'echo', inputSchema: { type: 'object', required: ['query'] } }],
      prompt: [{ role: 'user' }],
    })
  })

  it('asks without any where there are none', async () => {
    const { model } = await play([['Hello']], { tools: [] })
    expect(model.calls[0]).not.toHaveProperty('tools')
    expect(model.calls[0]).not.toHaveProperty('toolChoice')
  })

  it('counts the tokens of every question to the model', async () => {
    const usage = { inputTokens: { total: 7 }, outputTokens: { total: 3 } }
    let asked = 0
    const { outcome } = await play([], {
      stream: () => async take => {
        asked += 1
        if (asked === 1)
          take({ type: 'tool-call', toolCallId: 'a', toolName: 'echo', input: '{"query":"x"}' })
        take({ type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage } as never)
      },
    })
    expect(asked).toBe(2)
    expect(outcome.usage).toEqual({ inputTokens: 14, outputTokens: 6 })
  })
})

describe('tools', () => {
  it('run, and their results lead to the answer', async () => {
    const { outcome, events, model } = await play([['Let me see.', callOf('a')], ['It is a.']])
    expect(events).toEqual([
      { type: 'thinking', iteration: 1 },
      { type: 'content_delta', delta: 'Let me see.', index: 0 },
      { type: 'tool_call', id: 'id-1', name: 'echo', arguments: { query: 'a' } },
      {
        type: 'tool_result',
        toolCallId: 'id-1',
        name: 'echo',
        success: true,
        result: { said: 'a' },
        resultPreview: '{"said":"a"}',
      },
      { type: 'thinking', iteration: 2 },
      { type: 'content_delta', delta: '\n\nIt is a.', index: 1 },
    ])
    expect(outcome).toEqual({
      reasoning: '',
      toolsUnsupported: false,
      toolsRefused: [],
      content: 'Let me see.\n\nIt is a.',
      toolCalls: [{ id: 'id-1', name: 'echo', arguments: { query: 'a' } }],
      toolResults: [{ toolCallId: 'id-1', name: 'echo', result: { said: 'a' } }],
      usage: undefined,
      isTainted: true,
      isCutOff: false,
      end: answered,
    })
    expect(model.calls[1]?.prompt.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    expect(resultsSeen(model)).toEqual(['{"said":"a"}'])
  })

  it('run one after the other, each with its result, in the order in which they were asked for', async () => {
    const { events, model } = await play([[callOf('a'), callOf('b')], ['Done']])
    expect(types(events)).toEqual([
      'thinking',
      'tool_call',
      'tool_result',
      'tool_call',
      'tool_result',
      'thinking',
      'content_delta',
    ])
    expect(resultsSeen(model)).toEqual(['{"said":"a"}', '{"said":"b"}'])
  })

  it('are matched with their calls by the ids of the model, which never leave the turn', async () => {
    const { events, model } = await play([[{ ...callOf('a'), toolCallId: 'call_xyz' }], ['Done']])
    expect(JSON.stringify(events)).not.toContain('call_xyz')
    expect(model.calls[1]?.prompt.slice(1)).toMatchObject([
      { content: [{ type: 'tool-call', toolCallId: 'call_xyz' }] },
      { content: [{ type: 'tool-result', toolCallId: 'call_xyz' }] },
    ])
  })

  it('give back to the provider what it added to its call', async () => {
    const providerMetadata = { google: { thoughtSignature: 'sig' } }
    const { model } = await play([[{ ...callOf('a'), providerMetadata }], ['Done']])
    expect(model.calls[1]?.prompt[1]?.content).toMatchObject([{ providerOptions: providerMetadata }])
  })

  it.each<[what: string, call: { toolName: string; input?: unknown }, tool: Partial<Tool>, error: RegExp]>([
    ['unknown', callOf('a', 'delete_everything'), {}, /no tool named delete_everything/],
    ['called with what is no JSON', { toolName: 'echo', input: '{"query":' }, {}, /not a JSON object/],
    ['called with a list', { toolName: 'echo', input: '[1]' }, {}, /not a JSON object/],
    ['called without what it needs', { toolName: 'echo', input: '' }, {}, /query must be string/],
    [
      'failing in a way that can be told',
      callOf('a'),
      { execute: () => Promise.reject(new AppError('OUTBOUND_REFUSED', 'This address is private.')) },
      /^This address is private\.$/,
    ],
    [
      'failing in any other way',
      callOf('a'),
      { execute: () => Promise.reject(new Error('ENOENT /etc/secret')) },
      /^The tool echo failed\.$/,
    ],
    [
      'answering what can’t be written down',
      callOf('a'),
      { execute: async () => ({ count: 1n }) },
      /^The tool echo failed\.$/,
    ],
  ])('that are %s get an error, and the turn goes on', async (_what, call, change, error) => {
    const { outcome, events, model } = await play([[call], ['Sorry.']], { tools: [echo(change)] })
    const result = { toolCallId: 'id-1', name: call.toolName, error: expect.stringMatching(error) }
    expect(events[2]).toEqual({ type: 'tool_result', success: false, ...result })
    expect(outcome).toMatchObject({ content: 'Sorry.', toolResults: [result], end: answered })
    expect(outcome.toolResults[0]).not.toHaveProperty('result')
    expect(resultsSeen(model)).toEqual([expect.stringMatching(error)])
  })

  it('have large results cut: for those who watch, and further for the model', async () => {
    const execute = async () => ({
      page: 'x'.repeat(100_000),
      shot: `data:image/png;base64,${'A'.repeat(9000)}`,
    })
    const { outcome, events, model } = await play([[callOf('a')], ['Done']], { tools: [echo({ execute })] })
    const event = events.find(each => each.type === 'tool_result' && each.success)
    expect(event).toMatchObject({ resultPreview: expect.stringMatching(/^.{199}…$/s) })
    expect(lengthOf(outcome.toolResults[0]?.result, 64_000)).toBe('just below')
    expect(lengthOf(resultsSeen(model)[0], 16_000)).toBe('just below')
    expect(JSON.stringify(outcome)).not.toContain('AAAA')
  })

  it.each([
    ['results', async (query: string) => `${query} ${'x'.repeat(100_000)}`],
    [
      'errors',
      async () => {
        throw new AppError('TOOL_FAILED', 'x'.repeat(100_000))
      },
    ],
  ])('keep little of further %s once they are large together, and say so', async (_what, answer) => {
    const calls = Array.from({ length: 60 }, (_, index) => callOf(`${index}`))
    const long = echo({ execute: async ({ query }) => answer(String(query)) })
    const { outcome, events, model } = await play([calls, [callOf('last')], ['Done']], { tools: [long] })
    const texts = outcome.toolResults.map(({ result, error }) => String(error ?? result))
    expect(texts.findIndex(({ length }) => length <= 1000)).toBe(32)
    expect(texts.slice(32)).toEqual(Array.from({ length: 29 }, () => expect.stringMatching(cutNote)))
    expect(texts.join('').length).toBeLessThan(2_100_000)
    expect(JSON.stringify(events).length).toBeLessThan(2_200_000)
    expect(resultsSeen(model).at(-1)).toBe(texts.at(-1))
  })

  it('stay whole beyond that if they are small', async () => {
    const calls = Array.from({ length: 40 }, (_, index) => callOf(`${index}`))
    const execute = async ({ query }: Record<string, unknown>) => {
      if (query === '39') return { sent: true }
      return 'x'.repeat(64_000)
    }
    const { outcome } = await play([calls, ['Done']], { tools: [echo({ execute })] })
    expect(outcome.toolResults.at(-1)?.result).toEqual({ sent: true })
  })

  it('can’t push the prompt beyond the window', async () => {
    const execute = async () => 'x'.repeat(100_000)
    const steps = Array.from({ length: 8 }, (_, index) => [callOf(`${index}`)])
    const { outcome, model } = await play([...steps, ['Done']], {
      contextWindow: 8000,
      tools: [echo({ execute })],
    })
    expect(outcome.end).toEqual(answered)
    for (const { prompt } of model.calls) expect(JSON.stringify(prompt).length).toBeLessThan(8000 * 4)
  })

  it('are ignored where none were offered', async () => {
    const tool = echo()
    const { outcome, events } = await play([['Hello', callOf('a')]], { tools: [] })
    expect(tool.ran).toEqual([])
    expect(types(events)).toEqual(['thinking', 'content_delta'])
    expect(outcome).toMatchObject({ content: 'Hello', toolCalls: [], end: answered })
  })
})

describe('the number of iterations', () => {
  const stubborn = (call: CallOptions, index: number) =>
    call.tools === undefined ? [`Enough after ${index}.`] : [callOf(`${index}`)]

  it(`is 8, then the model is asked once more without tools ${limitRow('tool-iterations')}`, async () => {
    const { outcome, events, model } = await play(Array.from({ length: 9 }, () => stubborn))
    expect(model.calls.map(({ tools }) => tools?.length ?? 0)).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 0])
    const iterations = events.flatMap(event => (event.type === 'thinking' ? [event.iteration] : []))
    expect(iterations).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(outcome.toolCalls).toHaveLength(8)
    expect(outcome).toMatchObject({ content: 'Enough after 8.', end: answered })
  })

  it('can be set by the operator', async () => {
    const { outcome, model } = await play(
      Array.from({ length: 3 }, () => stubborn),
      { maxIterations: 2 },
    )
    expect(model.calls).toHaveLength(3)
    expect(outcome).toMatchObject({ content: 'Enough after 2.', end: answered })
  })

  it('ends even for a model that calls tools which it was not offered', async () => {
    const { outcome, model } = await play(Array.from({ length: 9 }, (_, index) => [callOf(`${index}`)]))
    expect(model.calls).toHaveLength(9)
    expect(outcome.toolCalls).toHaveLength(8)
    expect(outcome).toMatchObject({ content: '', end: answered })
  })
})

describe('a repeated call', () => {
  it('is not run again, and its result says so', async () => {
    const tool = echo()
    const { outcome } = await play([[callOf('a')], [callOf('a')], ['It is a.']], { tools: [tool] })
    expect(tool.ran).toHaveLength(1)
    expect(outcome.toolResults[1]).toEqual({
      toolCallId: 'id-2',
      name: 'echo',
      error: expect.stringMatching(/made before/),
    })
    expect(outcome).toMatchObject({ content: 'It is a.', end: answered })
  })

  it('ends tool use at the third, and the turn with an answer', async () => {
    const tool = echo()
    const repeating = (call: CallOptions) => (call.tools === undefined ? ['It is a.'] : [callOf('a')])
    const { outcome, model, events } = await play(
      Array.from({ length: 5 }, () => repeating),
      { tools: [tool] },
    )
    expect(tool.ran).toHaveLength(1)
    expect(model.calls.map(({ tools }) => tools?.length ?? 0)).toEqual([1, 1, 1, 1, 0])
    expect(types(events).filter(type => type === 'thinking')).toHaveLength(5)
    expect(outcome).toMatchObject({ content: 'It is a.', end: answered })
  })

  it('within one answer counts as well', async () => {
    const tool = echo()
    const { outcome } = await play([[callOf('a'), callOf('a')], ['Done']], { tools: [tool] })
    expect(tool.ran).toHaveLength(1)
    expect(outcome.toolResults).toMatchObject([{ result: { said: 'a' } }, { error: expect.any(String) }])
  })

  it('runs for a tool that observes, when another call came between', async () => {
    const look = echo({ name: 'look', observesChange: true })
    const steps = [
      [callOf('a', 'look')],
      [callOf('b')],
      [callOf('a', 'look')],
      [callOf('a', 'look')],
      ['Done'],
    ]
    const { outcome } = await play(steps, { tools: [look, echo()] })
    expect(outcome.toolResults.map(({ error }) => error === undefined)).toEqual([true, true, true, false])
  })
})

describe('what was said', () => {
  it('over several iterations is the concatenation of its pieces', async () => {
    const { outcome, events } = await play([
      ['First', ' I look.', callOf('a')],
      [callOf('b')],
      ['\nThen', callOf('c')],
      ['', 'Done.'],
    ])
    const deltas = events.flatMap(event => (event.type === 'content_delta' ? [event] : []))
    expect(deltas.map(({ delta }) => delta).join('')).toBe(outcome.content)
    expect(deltas.map(({ index }) => index)).toEqual(deltas.map((_, index) => index))
    expect(outcome.content).toBe('First I look.\n\n\nThen\n\nDone.')
  })

  it('is kept when the model fails in the middle', async () => {
    const { outcome, events } = await play([
      ['I look.', callOf('a')],
      ['It', ' is', { error: { statusCode: 500, message: 'sk-secret' } }],
    ])
    expect(events.at(-1)).toMatchObject({ type: 'content_delta', delta: ' is' })
    expect(outcome).toMatchObject({
      content: 'I look.\n\nIt is',
      toolCalls: [{ id: 'id-1' }],
      toolResults: [{ toolCallId: 'id-1' }],
      end: { kind: 'failed', error: { code: 'MODEL_ERROR' } },
    })
    expect(JSON.stringify(outcome)).not.toContain('sk-secret')
  })

  it('is kept when something fails that should not', async () => {
    const { outcome } = await play([['Hel', 'lo']], {
      emit: event => {
        if (event.type === 'content_delta') throw new TypeError('a defect')
      },
    })
    expect(outcome).toMatchObject({
      content: 'Hel',
      end: {
        kind: 'failed',
        error: { code: 'INTERNAL_ERROR', message: expect.not.stringContaining('defect') },
      },
    })
  })
})

describe('an abort', () => {
  it('keeps what was said until then, and asks nothing more', async () => {
    const client = new AbortController()
    const held = gate()
    const { outcome, model } = await play([['Hel', 'lo', { wait: held.opened }, ' world']], {
      signal: client.signal,
      emit: event => {
        if (event.type === 'content_delta' && event.delta === 'lo') client.abort()
      },
    })
    expect(outcome).toMatchObject({ content: 'Hello', end: { kind: 'aborted' } })
    expect(model.calls).toHaveLength(1)
  })

  it('reaches a tool that runs, whose call stays without a result', async () => {
    const client = new AbortController()
    const execute: Tool['execute'] = (_input, signal) => {
      client.abort()
      return Promise.reject(signal.reason)
    }
    const { outcome, events } = await play([['I look.', callOf('a')], ['Done']], {
      signal: client.signal,
      tools: [echo({ execute })],
    })
    expect(types(events)).toEqual(['thinking', 'content_delta', 'tool_call'])
    expect(outcome).toMatchObject({
      content: 'I look.',
      toolCalls: [{ id: 'id-1' }],
      toolResults: [],
      end: { kind: 'aborted' },
    })
  })

  it('is noticed even where the model’s stream goes on: no tool runs after it', async () => {
    const client = new AbortController()
    const tool = echo()
    const { outcome, events } = await play([], {
      signal: client.signal,
      tools: [tool],
      stream: () => async take => {
        client.abort()
        take({ type: 'tool-call', toolCallId: 'a', toolName: 'echo', input: '{"query":"x"}' })
      },
    })
    expect(outcome.end).toEqual({ kind: 'aborted' })
    expect(types(events)).toEqual(['thinking'])
    expect(tool.ran).toEqual([])
  })

  it('before the first question is an abort with nothing said', async () => {
    const { outcome, model } = await play([['Hello']], { signal: AbortSignal.abort() })
    expect(outcome).toMatchObject({ content: '', toolCalls: [], end: { kind: 'aborted' } })
    expect(model.calls[0]?.abortSignal?.aborted ?? true).toBe(true)
  })

  it('is told apart from a failure that it causes', async () => {
    const client = new AbortController()
    const { outcome } = await play([['Hel', { error: new Error('socket hang up') }]], {
      signal: client.signal,
      emit: event => {
        if (event.type === 'content_delta') client.abort()
      },
    })
    expect(outcome.end).toEqual({ kind: 'aborted' })
  })
})

describe('a model that does not end', () => {
  type Endless = AsyncGenerator<AnswerPart>

  async function* endlessText(): Endless {
    for (;;) yield { type: 'text-delta', id: '1', delta: 'x'.repeat(50_000) }
  }

  async function* endlessThought(): Endless {
    for (;;) yield { type: 'reasoning-delta', id: '1', delta: 'x'.repeat(50_000) }
  }

  async function* endlessCalls(): Endless {
    for (let n = 0; ; n += 1) yield { type: 'tool-call', toolCallId: `${n}`, toolName: 'echo', input: '{}' }
  }

  async function* endlessArguments(): Endless {
    const input = JSON.stringify({ query: 'x'.repeat(50_000) })
    for (let n = 0; ; n += 1) yield { type: 'tool-call', toolCallId: `${n}`, toolName: 'echo', input }
  }

  it.each([
    ['text', endlessText, 1_000_000],
    ['thoughts', endlessThought, 0],
    ['calls', endlessCalls, 0],
    ['arguments', endlessArguments, 0],
  ] as const)('is cut off in its %s, and what it said is kept', async (_what, endless, kept) => {
    const tool = echo()
    const { outcome } = await play([], { stream: () => handedOver(endless()), tools: [tool] })
    expect(outcome.end).toMatchObject({ kind: 'failed', error: { code: 'MODEL_ERROR' } })
    expect(outcome.content).toHaveLength(kept)
    expect(tool.ran).toEqual([])
  })

  it('is cut off over several iterations as well', async () => {
    const much = 'x'.repeat(200_000)
    const { outcome, model } = await play(Array.from({ length: 8 }, (_, index) => [much, callOf(`${index}`)]))
    expect(outcome.end).toMatchObject({ kind: 'failed', error: { code: 'MODEL_ERROR' } })
    expect(model.calls).toHaveLength(5)
  })
})

describe('a tool that requires approval', () => {
  const steps = [[callOf('one')], ['So be it.']]

  it('runs while the model has seen nothing that outsiders wrote', async () => {
    const tool = echo({ requiresApproval: true })
    const { outcome } = await play(steps, { tools: [tool] })
    expect(tool.ran).toHaveLength(1)
    expect(outcome.toolResults).toMatchObject([{ result: expect.anything() }])
  })

  it('waits for a person where the messages hold text of outsiders', async () => {
    const tool = echo({ requiresApproval: true })
    const { outcome, events } = await play(steps, { tools: [tool], isTainted: true })
    expect(tool.ran).toEqual([])
    const waiting = {
      name: 'echo',
      error: expect.stringMatching(/approval of a person/),
      approval: 'required',
    }
    expect(outcome.toolResults).toMatchObject([waiting])
    expect(events.find(({ type }) => type === 'tool_result')).toMatchObject({ success: false, ...waiting })
    expect(outcome).toMatchObject({ isTainted: true, content: 'So be it.' })
  })

  it('waits for a person once another tool has answered', async () => {
    const reader = echo({ name: 'reader' })
    const tool = echo({ requiresApproval: true })
    const { outcome } = await play([[callOf('page', 'reader')], ...steps], {
      tools: [reader, tool],
    })
    expect(reader.ran).toHaveLength(1)
    expect(tool.ran).toEqual([])
    expect(outcome.toolResults[1]).toMatchObject({ approval: 'required' })
    expect(outcome.isTainted).toBe(true)
  })

  it('does not wait because of a call that was never made', async () => {
    const tool = echo({ requiresApproval: true })
    const { outcome } = await play([[callOf('page', 'reader')], ...steps], { tools: [tool] })
    expect(tool.ran).toHaveLength(1)
    expect(outcome.toolResults[0]?.error).toMatch(/no tool named/)
  })
})
