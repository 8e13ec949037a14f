import type {
  AnswerPart,
  CallOptions,
  FinishReason,
  Parts,
  ToolCall,
} from '#models/language-model/language-model.ts'
import type { Timing } from '#models/transport/call-with-retry.ts'

export interface CollectedAnswer {
  text: string
  reasoning: string
  toolCalls: ToolCall[]
  finish: { unified: FinishReason; raw: string | undefined } | undefined
  /** What the answer ended with, if that was an error. */
  error: unknown
}

/** Takes an answer's parts to its end or to its error. */
export async function collect(parts: Parts<AnswerPart>): Promise<CollectedAnswer> {
  const answer: CollectedAnswer = {
    text: '',
    reasoning: '',
    toolCalls: [],
    finish: undefined,
    error: undefined,
  }
  try {
    await parts(part => {
      if (part.type === 'text-delta') answer.text += part.delta
      if (part.type === 'reasoning-delta') answer.reasoning += part.delta
      if (part.type === 'tool-call') answer.toolCalls.push(part)
      if (part.type === 'finish') answer.finish = part.finishReason
    })
  } catch (error) {
    answer.error = error
  }
  return answer
}

/** What a generator makes, as parts that are handed over. */
export function handedOver<Part>(making: AsyncIterable<Part>): Parts<Part> {
  return async take => {
    for await (const part of making) take(part)
  }
}

/** A call with one user message. */
export function question(text: string, options: Partial<CallOptions> = {}): CallOptions {
  return { prompt: [{ role: 'user', content: [{ type: 'text', text }] }], ...options }
}

/** Waits between attempts that take no time. */
export const immediately: Timing = { clock: { now: () => 0 }, sleep: async () => {} }
