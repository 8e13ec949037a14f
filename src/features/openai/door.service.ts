import { hash } from 'node:crypto'
import type { ChatFeature } from '#features/chat/chat.feature.ts'
import type { PromptMessage } from '#models/language-model/language-model.ts'
import type { Actor } from '#platform/actor.ts'
import type { Clock } from '#platform/clock.ts'
import { AppError, isSpent } from '#platform/errors.ts'
import type { Log } from '#platform/logging/log.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { CutFiles } from './large-bodies.ts'
import type { ChatBody } from './openai.schema.ts'
import { readQuestion } from './question.ts'
import type { ReadFiles } from './sent-files.ts'
import { findTrails, forgetTrail, keepTrail } from './trails.repository.ts'

type Outcome = Awaited<ReturnType<Awaited<ReturnType<ChatFeature['planner']['plan']>>['run']>>
export type Call = Extract<Outcome['end'], { kind: 'handed-out' }>['calls'][number]

export interface Answer {
  text: string
  /** Notes for people on steps that the client does not see. */
  notes: string
  calls: Call[]
  finish: 'stop' | 'length' | 'content_filter' | 'tool_calls'
  usage: Outcome['usage']
}

/** Adds a piece to an answer. */
export type Report = (piece: { text: string } | { note: string }) => void

/** Runs the turn and returns its answer; throws the error that ended the turn. */
export type Run = (report: Report) => Promise<Answer>

interface Question {
  agent: AgentHandle
  body: ChatBody
  /** Cut out of the body. */
  files: CutFiles
  actor: Actor
  /** True for a caller who may only chat. */
  isOutsider: boolean
}

interface Dependencies extends Pick<ChatFeature, 'planner' | 'running'> {
  readFiles: ReadFiles
  clock: Clock
  log: Log
}

export function createDoor({ planner, running, readFiles, clock, log }: Dependencies) {
  /** Throws the reason why the question is refused. */
  async function prepare(
    { agent, body, files, actor, isOutsider }: Question,
    client: AbortSignal,
  ): Promise<Run> {
    const caller = `${actor.kind}:${actor.id}`
    const ids = body.messages.flatMap(({ tool_calls }) => tool_calls?.[0]?.id ?? [])
    const repeat = repeatOf(body, caller)
    const trails = await findTrails(agent.db, { ids: ids.concat(repeat), caller }, clock.now())
    for (const id of repeat)
      if (trails.has(id) && (await forgetTrail(agent.db, id))) throw failedAfterTools(clientLeft)
    const messages = await readFiles(body.messages, files, client)
    const { sent, options, userMessage } = readQuestion({ ...body, messages }, trails)
    const plan = await planner.plan(agent.agentId, { ...options, isOutsider })

    async function answer(turn: ReturnType<typeof createTurn>, signal: AbortSignal): Promise<Answer> {
      const outcome = await turn.run(
        emit => plan.run({ agent, sent, userMessage, isFirst: true }, emit, signal),
        signal,
      )
      const { end } = outcome
      if (end.kind === 'handed-out' && !isPlain(end.messages))
        await keepTrail(
          agent.db,
          { call_id: end.calls[0]?.id ?? '', caller, messages: end.messages },
          clock.now(),
        )
      return turn.answer(outcome)
    }

    async function afterTools(error: unknown): Promise<AppError> {
      for (const call_id of client.aborted ? repeat : [])
        await keepTrail(agent.db, { call_id, caller, messages: [] }, clock.now(), repeatMs)
      return failedAfterTools(error)
    }

    const { type = 'text' } = body.response_format ?? {}
    const holdsText = type !== 'text'
    return report =>
      running.run([client, agent.signal], async ({ signal }) => {
        const turn = createTurn(report, holdsText)
        try {
          return await answer(turn, signal)
        } catch (error) {
          if (!signal.aborted)
            log.warn({ err: error, agentId: agent.agentId, model: plan.model }, 'a turn failed')
          // Clients retry errors that might be temporary, which would call tools twice.
          throw turn.hasCalled() ? await afterTools(error) : error
        }
      })
  }

  return { prepare }
}

export type Door = ReturnType<typeof createDoor>

/** Collects the events of a turn. With a form, the text is held back until it has the form. */
function createTurn(report: Report, holdsText: boolean) {
  let [text, notes] = ['', '']

  function add(piece: Parameters<Report>[0]): void {
    if ('text' in piece) text += piece.text
    else notes += piece.note
    if (!holdsText || 'note' in piece) report(piece)
  }

  return {
    hasCalled: () => notes !== '',
    async run(start: (emit: Emit) => Promise<Outcome>, signal: AbortSignal): Promise<Outcome> {
      const outcome = await start(event => {
        if (event.type === 'content_delta') add({ text: event.delta })
        if (event.type === 'content_replaced') text = event.content
        if (event.type === 'tool_call') add({ note: `Calling ${event.name}.\n` })
      })
      if (outcome.end.kind === 'failed') throw outcome.end.error
      if (outcome.end.kind === 'aborted') throw signal.reason
      if (outcome.end.kind === 'answered' && holdsText) report({ text })
      return outcome
    },
    answer({ end, isCutOff, isFiltered, usage }: Outcome): Answer {
      const cut = isFiltered ? 'content_filter' : isCutOff ? 'length' : 'stop'
      const calls = end.kind === 'handed-out' ? end.calls : []
      return { text, notes, calls, finish: calls.length > 0 ? 'tool_calls' : cut, usage }
    },
  }
}

type Emit = Parameters<Awaited<ReturnType<ChatFeature['planner']['plan']>>['run']>[1]

/** True if a client sends back all of these messages by itself. */
function isPlain([first, ...others]: readonly PromptMessage[]): boolean {
  if (others.length > 0 || first?.role !== 'assistant') return false
  return first.content.every(
    part => (part.type === 'text' || part.type === 'tool-call') && part.providerOptions === undefined,
  )
}

/**
 * Returns the mark of a request whose client left after a tool was called: by a timeout of its own or of a proxy, after which
 * it repeats the request. Streams have none, because clients don't repeat a stream that has begun.
 */
function repeatOf({ stream, messages }: ChatBody, caller: string): string[] {
  if (stream) return []
  return [hash('sha256', JSON.stringify([caller, messages.length, messages.at(-1)]))]
}

/** Time for which a request counts as repeated, in milliseconds. */
const repeatMs = 60_000
const clientLeft = new AppError('CONFLICT', 'The same request was given up by its client a moment ago.')

/** A spent budget refuses a repeated request before any tool is called, so its error keeps its code. */
function failedAfterTools(cause: unknown): AppError {
  const message = cause instanceof AppError ? cause.message : 'The answer could not be finished.'
  const told = `${message} Tools had been called before: they may do the same again if the request is repeated.`
  if (cause instanceof AppError && isSpent(cause))
    return new AppError('BUDGET_SPENT', told, { cause, details: cause.details ?? {} })
  return new AppError('TURN_FAILED_AFTER_TOOLS', told, { cause })
}
