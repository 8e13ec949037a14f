import { setTimeout as sleepFor } from 'node:timers/promises'
import { type Clock, systemClock } from '#platform/clock.ts'
import type {
  AnswerPart,
  CallOptions,
  FinishPart,
  LanguageModel,
  Parts,
  StreamPart,
} from '../language-model/language-model.ts'
import { readableUsage } from '../language-model/usage.ts'
import { brokenOff, type FailedModel, modelError, readFailure } from './model-error.ts'

const maxRetries = 2
const firstDelay = 500
/** Max wait in milliseconds, even if the provider demands more. */
const maxDelay = 10_000

/** Timing of the waits between attempts; tests pass their own. */
export interface Timing {
  clock: Clock
  /** Resolves after that time; rejects as soon as the signal aborts. */
  sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void>
}

const realTiming: Timing = {
  clock: systemClock,
  sleep: (milliseconds, signal) => sleepFor(milliseconds, undefined, signal && { signal }),
}

/**
 * Streams one answer. Temporary failures (rate limits, overload, network) are retried, at most twice and only
 * before the first part: emitted parts cannot be taken back.
 *
 * Rejects with AppError MODEL_UNKNOWN or MODEL_ERROR, the latter also for an incomplete answer; once the
 * signal is aborted, with the signal's reason. The last part of an answer is always its `finish`.
 * @param report called with each usage that the service reports, of an incomplete answer as well
 */
export function streamWithRetry(
  model: LanguageModel,
  options: CallOptions,
  timing: Timing = realTiming,
  report: (usage: FinishPart['usage']) => void = () => {},
): Parts<AnswerPart> {
  return async take => {
    const reading = createReading(model, options, take, report)
    for (let attempt = 0; ; attempt++) {
      try {
        const { stream } = await model.doStream(options)
        await handOver(stream, reading.take)
        if (reading.isWhole()) return
        throw brokenOff(model)
      } catch (error) {
        reading.throwReadersOwn()
        await delayOrThrow({
          error,
          model,
          attempt: reading.hasBegun() ? maxRetries : attempt,
          timing,
          signal: options.abortSignal,
        })
      }
    }
  }
}

/** Passes on a stream's parts. Parts after the `finish` are not awaited. */
export async function handOver(
  stream: AsyncIterable<StreamPart> | Parts<StreamPart>,
  take: (part: StreamPart) => void,
): Promise<void> {
  if (typeof stream === 'function') return await stream(take)
  for await (const part of stream) {
    take(part)
    if (part.type === 'finish') return
  }
}

/** The state of an answer while it is read. */
function createReading(
  model: LanguageModel,
  { abortSignal }: CallOptions,
  takeAnswer: (part: AnswerPart) => void,
  report: (usage: FinishPart['usage']) => void,
) {
  let hasBegun = false
  let isWhole = false
  let readersOwn: { error: unknown } | undefined

  return {
    take(read: StreamPart): void {
      const hasUsage = read.type === 'usage' || read.type === 'finish'
      const part = hasUsage ? { ...read, usage: readableUsage(read.usage) } : read
      // Data read before an abort is not shown after it.
      abortSignal?.throwIfAborted()
      if (part.type === 'usage' || part.type === 'finish') report(part.usage)
      if (!isAnswerPart(part, model)) return
      hasBegun = true
      try {
        takeAnswer(part)
      } catch (error) {
        readersOwn = { error }
        throw error
      }
      if (part.type === 'finish') isWhole = true
    },
    hasBegun: () => hasBegun,
    isWhole: () => isWhole,
    /** Throws an error of the answer's consumer, which is not an error of the model. */
    throwReadersOwn(): void {
      if (readersOwn !== undefined) throw readersOwn.error
    },
  }
}

/** Applies the same rules to a call that is answered in one piece. */
export async function callWithRetry<Result>(
  model: FailedModel,
  call: () => PromiseLike<Result>,
  signal: AbortSignal | undefined,
  timing: Timing = realTiming,
): Promise<Result> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await call()
    } catch (error) {
      await delayOrThrow({ error, model, attempt, timing, signal })
    }
  }
}

/** True for a complete answer. Providers mark an early end as `interrupted`, or as `error` after one. */
function isComplete(finish: Extract<AnswerPart, { type: 'finish' }>): boolean {
  return finish.finishReason.unified !== 'interrupted' && finish.finishReason.unified !== 'error'
}

const answerParts: ReadonlySet<string> = new Set<AnswerPart['type']>([
  'text-start',
  'text-delta',
  'text-end',
  'text-retracted',
  'reasoning-start',
  'reasoning-delta',
  'reasoning-end',
  'tool-call',
  'finish',
])

/** Returns false for a part that only `src/models` handles. Throws if a part marks an incomplete answer. */
function isAnswerPart(part: StreamPart, model: LanguageModel): part is AnswerPart {
  if (part.type === 'error') throw part.error
  if (part.type === 'finish' && !isComplete(part)) throw brokenOff(model)
  return answerParts.has(part.type)
}

interface FailedAttempt {
  error: unknown
  model: FailedModel
  /** The attempt, counted from 0. */
  attempt: number
  timing: Timing
  signal: AbortSignal | undefined
}

async function delayOrThrow({ error, model, attempt, timing, signal }: FailedAttempt): Promise<void> {
  if (signal?.aborted) throw signal.reason
  const { retryable, retryAfter } = readFailure(error)
  if (!retryable || attempt >= maxRetries) throw modelError(error, model)
  await timing.sleep(delayOf(attempt, retryAfter, timing.clock), signal).catch(interruption => {
    // A timer only reports that it was aborted.
    signal?.throwIfAborted()
    throw interruption
  })
}

/** Returns milliseconds: the Retry-After (RFC 9110, 10.2.3: seconds or a date), else doubled from 500. */
function delayOf(attempt: number, retryAfter: string | undefined, clock: Clock): number {
  const seconds = retryAfter === undefined ? Number.NaN : Number(retryAfter) * 1000
  const until = retryAfter === undefined ? Number.NaN : Date.parse(retryAfter) - clock.now()
  const delay = [seconds, until].find(Number.isFinite) ?? firstDelay * 2 ** attempt
  return Math.min(Math.max(delay, 0), maxDelay)
}
