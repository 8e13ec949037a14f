import { Readable } from 'node:stream'
import type { ChangeFeed } from '#platform/change-feed.ts'
import { AppError } from '#platform/errors.ts'
import { keepAliveMs } from '#platform/http/responses/sse.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { eventsChange } from '../chat.events.ts'
import { batchesAtOnce, hasEnded, readEvents } from '../rows/turns.repository.ts'
import type { StreamEvent } from '../stream-events.schema.ts'

/** Interval of a reader's own checks, in milliseconds: the first, and the max. */
const lookMs = { first: 1_000, most: 4_000 }
/** Matches the last event of a turn in its sent form, so that the reader need not wait to see the end. */
const endsTurn = /\ndata: \{"type":"(message_complete|error)"[^\n]*\n\n$/

interface Reading {
  agent: AgentHandle
  turnId: string
  /** Number of the last event that the reader has received. */
  after: number
  changes: ChangeFeed
  /** Ends the events; if its reason is an AppError, that is the last event. */
  signal: AbortSignal
  /** Returns the last event of a turn whose events are deleted. */
  last(): Promise<StreamEvent>
}

/** Returns the stored and future events of a turn as text. A batch is read when the reader has taken the previous one. */
export function followTurn(reading: Reading): Readable {
  return Readable.from(eventsOf(reading), { objectMode: false })
}

async function* eventsOf({ agent, turnId, after, changes, signal, last }: Reading): AsyncGenerator<string> {
  const follower = changes.follow(agent.agentId)
  try {
    let at = after
    let pause = lookMs.first
    let quietSince = performance.now()
    while (!signal.aborted) {
      const batches = await readEvents(agent.db, turnId, at)
      let text = ''
      for (const { last: number, events } of batches) {
        text = textOf(turnId, number, events.split('\n'), at)
        yield text
        at = number
      }
      if (batches.length > 0) {
        pause = lookMs.first
        quietSince = performance.now()
        // Events written after this point are reported by changes.
        if (batches.length === batchesAtOnce || endsTurn.test(text)) continue
      } else if (await isOver(agent, turnId, at)) {
        if (at === 0) yield `event: message\ndata: ${JSON.stringify(await last())}\n\n`
        return
      }
      await changed(follower, turnId, { signal, pause })
      pause = Math.min(2 * pause, lookMs.most)
      if (performance.now() - quietSince < keepAliveMs) continue
      yield ': keep-alive\n\n'
      quietSince = performance.now()
    }
    const { reason } = signal
    if (!(reason instanceof AppError)) return
    const error = { type: 'error', message: reason.message, code: reason.code }
    yield `event: message\ndata: ${JSON.stringify(error)}\n\n`
  } finally {
    follower.end()
  }
}

/** Reads in this order, so that the last events are not missed. */
async function isOver({ db }: AgentHandle, turnId: string, at: number): Promise<boolean> {
  return (await hasEnded(db, turnId)) && (await readEvents(db, turnId, at)).length === 0
}

function textOf(turnId: string, last: number, lines: readonly string[], after: number): string {
  const first = last - lines.length + 1
  return lines
    .map((line, index) =>
      first + index > after ? `id: ${turnId}.${first + index}\nevent: message\ndata: ${line}\n\n` : '',
    )
    .join('')
}

/** Resolves once there might be more: after a change of the turn, after the pause, or at the end of the reading. */
async function changed(
  follower: ReturnType<ChangeFeed['follow']>,
  turnId: string,
  { signal, pause }: { signal: AbortSignal; pause: number },
): Promise<void> {
  const over = Promise.withResolvers<boolean>()
  const end = () => over.resolve(true)
  const timer = setTimeout(end, pause).unref()
  signal.addEventListener('abort', end)
  if (signal.aborted) end()
  try {
    for (;;) {
      const changes = follower.take()
      if (changes === 'missed' || changes.some(({ type, id }) => type === eventsChange && id === turnId))
        return
      if (await Promise.race([over.promise, follower.changed().then(() => false)])) return
    }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
  }
}
