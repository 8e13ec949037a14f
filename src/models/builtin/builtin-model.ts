import { randomIds } from '#platform/ids.ts'
import type { AnswerPart, CallOptions, LanguageModel } from '../language-model/language-model.ts'
import { nextStep } from './next-step.ts'

/**
 * The model of an agent without a language model: a retriever behind the same interface. It needs no key and no
 * network, calls the built-in tools by simple rules, and answers with passages of the agent's own documents.
 */
export const builtinLanguageModel: LanguageModel = {
  provider: 'builtin',
  modelId: 'builtin',
  doStream: async options => ({ stream: streamOf(partsOf(options), options.abortSignal) }),
}

function* partsOf(options: CallOptions): Generator<AnswerPart> {
  const step = nextStep(options)
  if ('toolName' in step) {
    const { toolName, input } = step
    yield { type: 'tool-call', toolCallId: randomIds.toolCall(), toolName, input: JSON.stringify(input) }
    yield finish('tool-calls')
    return
  }
  yield { type: 'text-start', id: 'answer' }
  for (const delta of piecesOf(step.text)) yield { type: 'text-delta', id: 'answer', delta }
  yield { type: 'text-end', id: 'answer' }
  yield finish('stop')
}

/** Splits a text into pieces of a few words; text without spaces into pieces of a few characters. */
function piecesOf(text: string): string[] {
  return text.match(/\s*(?:\S{1,24}(?:\s+|$)){1,4}|\s*\S{1,24}/gu) ?? []
}

function finish(unified: 'stop' | 'tool-calls'): AnswerPart {
  return {
    type: 'finish',
    finishReason: { unified, raw: undefined },
    usage: {
      inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: undefined, text: undefined, reasoning: undefined },
    },
  }
}

function streamOf(parts: Iterator<AnswerPart>, signal: AbortSignal | undefined): ReadableStream<AnswerPart> {
  return new ReadableStream({
    pull(controller) {
      signal?.throwIfAborted()
      const { done, value } = parts.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
  })
}
