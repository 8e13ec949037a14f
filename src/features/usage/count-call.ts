import { countImages, imageTokens, withoutImages } from '#models/language-model/images.ts'
import type { AnswerPart, CallOptions, FinishPart } from '#models/language-model/language-model.ts'
import { costOf, type ModelPrice } from './money.ts'

export type ReportedUsage = FinishPart['usage']

const charactersPerToken = 4

/** Returns the tokens of a prompt and its tools, at four characters per token; the bytes of images do not count. */
export function promptTokens({ prompt, tools }: Pick<CallOptions, 'prompt' | 'tools'>): number {
  const characters = JSON.stringify([withoutImages(prompt), tools]).length
  return Math.ceil(characters / charactersPerToken) + countImages(prompt) * imageTokens
}

/** Tokens reserved for an answer whose call sets no limit. */
const reservedOutput = 1000

/** Estimates the usage of a call, for its reservation. */
export function estimateOf(options: CallOptions, price: ModelPrice | undefined) {
  const input = promptTokens(options)
  const output = options.maxOutputTokens ?? reservedOutput
  const cost = price === undefined ? 0 : costOf({ input, cached: 0, cacheWrite: 0, output }, price)
  return { tokens: input + output, cost }
}

/** Returns a whole number, because services can report anything. */
function whole(tokens: number | undefined): number {
  return tokens !== undefined && tokens > 0 && tokens < 1e9 ? Math.round(tokens) : 0
}

/** Counts one call of a model while its answer streams. */
export function createCallCount() {
  let reported: ReportedUsage | undefined
  let characters = 0
  let hasBegun = false
  return {
    /** Stores the usage; the last report counts. */
    report(usage: ReportedUsage): void {
      if (usage.inputTokens.total !== undefined || usage.outputTokens.total !== undefined) reported = usage
    },
    add(part: AnswerPart): void {
      hasBegun = true
      if ('delta' in part) characters += part.delta.length
    },
    hasBegun: () => hasBegun,

    /**
     * Returns the tokens, and the cost in billionths of a US dollar, undefined if unknown.
     * @param options the call, whose tokens are estimated if none were reported; undefined if it cost nothing then
     */
    counted(options: CallOptions | undefined, price: ModelPrice | undefined) {
      const { inputTokens, outputTokens, raw } = reported ?? {}
      const tokens = {
        input: whole(inputTokens?.total),
        cached: whole(inputTokens?.cacheRead),
        cacheWrite: whole(inputTokens?.cacheWrite),
        output: whole(outputTokens?.total),
      }
      const isEstimated = reported === undefined && options !== undefined
      const prompt = isEstimated ? promptTokens(options) : 0
      const said = isEstimated ? Math.ceil(characters / charactersPerToken) : 0
      const charged = raw?.cost
      const known = typeof charged === 'number' && charged >= 0 && charged < 1e6
      const priced = isEstimated ? { input: prompt, cached: 0, cacheWrite: 0, output: said } : tokens
      const cost = known ? Math.round(charged * 1e9) : price && costOf(priced, price)
      return { tokens, estimated: prompt + said, cost: reported || isEstimated ? cost : 0 }
    },
  }
}
