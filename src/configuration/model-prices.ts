import { readFileSync } from 'node:fs'
import { type Static, Type } from 'typebox'
import { matches } from '#platform/schema-check.ts'

const price = Type.Number({ minimum: 0, maximum: 1_000_000 })

/** US dollars per million tokens. */
const modelPriceSchema = Type.Object(
  {
    input: price,
    output: price,
    /** Defaults to `input`. */
    cached_input: Type.Optional(price),
    cache_write: Type.Optional(price),
  },
  { additionalProperties: false },
)
/** Prices by the id of the model, or by `provider/id`. */
type ModelPrices = Readonly<Record<string, Static<typeof modelPriceSchema>>>

const example = '{"gpt-5": {"input": 1.25, "cached_input": 0.125, "output": 10}}'

/** Reads a file of prices; `problem` is the end of a sentence that begins with the name of the variable. */
export function readModelPrices(path: string | undefined): { prices: ModelPrices } | { problem: string } {
  if (path === undefined) return { prices: {} }
  try {
    const read: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (typeof read !== 'object' || read === null || Array.isArray(read))
      return { problem: `names a file that is no JSON object such as ${example}.` }
    const wrong = Object.entries(read).find(([, value]) => !matches(modelPriceSchema, value))
    if (wrong === undefined) return { prices: read as ModelPrices }
    return {
      problem: `names a file in which the entry "${wrong[0]}" has no prices in US dollars per million tokens, such as ${example}.`,
    }
  } catch (error) {
    const isJson = error instanceof SyntaxError
    return { problem: `names a file that ${isJson ? 'is no JSON' : 'cannot be read'}: ${path}` }
  }
}
