import type { FinishPart } from './language-model.ts'

type Usage = FinishPart['usage']

/** Max tokens that a call can have; services can report any number. */
const maxTokens = 1e9

/** A usage whose counts are whole numbers, or absent where they can be no counts. */
export function readableUsage(usage: Usage): Usage {
  const { inputTokens, outputTokens } = usage
  return { ...usage, inputTokens: readable(inputTokens), outputTokens: readable(outputTokens) }
}

function readable<Counts extends object>(counts: Counts): Counts {
  const read = Object.entries(counts).map(([name, count]) => [
    name,
    isCount(count) ? Math.round(count) : undefined,
  ])
  return Object.fromEntries(read)
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value < maxTokens
}
