/** A language model that does what the test says: the only fake that a test of a turn needs. */
import type { CallOptions, LanguageModel, StreamPart } from '#models/language-model/language-model.ts'

type Finish = Extract<StreamPart, { type: 'finish' }>
type FinishReason = Finish['finishReason']['unified']

/** One thing that a model does while it answers. */
type ScriptedPart =
  /** A piece of text. */
  | string
  | {
      toolName: string
      input?: unknown
      toolCallId?: string
      providerMetadata?: Record<string, Record<string, string>>
    }
  | { reasoning: string }
  /** The stream fails here; with `before`, the call itself does. */
  | { error: unknown; before?: boolean }
  /** Nothing more comes until this settles; a rejection fails the stream. */
  | { wait: PromiseLike<unknown> }
  /** Instead of the finish reason that follows from the other parts. */
  | { finish: FinishReason }

/** One answer: its parts, or a function of the call that gives them. */
export type ScriptedStep =
  | readonly ScriptedPart[]
  | ((call: CallOptions, index: number) => readonly ScriptedPart[])

export interface ScriptedModel extends LanguageModel {
  /** Every call so far, in order. */
  readonly calls: readonly CallOptions[]
}

/** Answers its calls with these steps in turn; a call beyond the last one fails. */
export function scriptedModel(
  steps: readonly ScriptedStep[],
  { provider = 'scripted', modelId = 'scripted-1' } = {},
): ScriptedModel {
  const calls: CallOptions[] = []
  return {
    provider,
    modelId,
    calls,
    async doStream(call) {
      const index = calls.push(call) - 1
      const step = steps[index]
      if (step === undefined)
        throw new Error(`The script has ${steps.length} steps; this is call ${index + 1}.`)
      const parts = typeof step === 'function' ? step(call, index) : step
      for (const part of parts) if (isPart(part, 'error') && part.before) throw part.error
      return { stream: streamOf(play(parts, index), call.abortSignal) }
    },
  }
}

/** A promise and what settles it, to hold a stream open. */
export function gate(): { opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: resolve }
}

async function* play(parts: readonly ScriptedPart[], index: number): AsyncGenerator<StreamPart> {
  let finish: FinishReason | undefined
  let called = 0
  yield { type: 'stream-start', warnings: [] }
  for (const part of parts) {
    if (typeof part === 'string') yield { type: 'text-delta', id: 'text', delta: part }
    else if (isPart(part, 'wait')) await part.wait
    else if (isPart(part, 'finish')) finish = part.finish
    else if (isPart(part, 'reasoning'))
      yield { type: 'reasoning-delta', id: 'thought', delta: part.reasoning }
    else if (isPart(part, 'error')) yield { type: 'error', error: part.error }
    else {
      const { toolName, input = {}, toolCallId = `call-${index + 1}-${++called}`, ...more } = part
      const json = typeof input === 'string' ? input : JSON.stringify(input)
      yield { type: 'tool-call', toolCallId, toolName, input: json, ...more }
      finish ??= 'tool-calls'
    }
  }
  yield { type: 'finish', finishReason: { unified: finish ?? 'stop', raw: undefined }, usage: noUsage }
}

const noUsage: Finish['usage'] = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
}

/** A stream of the generator's values that fails as soon as the signal aborts, as a network stream does. */
function streamOf(
  parts: AsyncGenerator<StreamPart>,
  signal: AbortSignal | undefined,
): ReadableStream<StreamPart> {
  return new ReadableStream<StreamPart>({
    start(controller) {
      if (signal?.aborted) controller.error(signal.reason)
      signal?.addEventListener('abort', () => controller.error(signal.reason), { once: true })
    },
    async pull(controller) {
      const { done, value } = await parts.next()
      if (signal?.aborted) return
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel() {
      // Not awaited: a generator that waits at a gate ends only when the gate opens.
      void parts.return(undefined)
    },
  })
}

function isPart<Name extends string>(
  part: ScriptedPart,
  name: Name,
): part is Extract<ScriptedPart, Record<Name, unknown>> {
  return typeof part === 'object' && name in part
}
