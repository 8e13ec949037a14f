import { AppError, invalid } from '#platform/errors.ts'
import { withDoubles } from '#platform/exact-json.ts'
import type { WorkerPool } from '#platform/workers/worker-pool.ts'
import { WorkerTimeout } from '#platform/workers/worker-pool.ts'
import type { ChatBody } from './openai.schema.ts'

const file = new URL('./format.worker.ts', import.meta.url)
const timeoutMs = 2000

/** The form that answers must have. */
export type Format = NonNullable<Awaited<ReturnType<typeof formatOf>>>

/**
 * Schemas are the caller's and may take any time, so they are compiled and checked in a thread that can be killed. Throws
 * VALIDATION_ERROR for one that can't be used.
 */
export async function formatOf(workers: WorkerPool, asked: ChatBody['response_format'], signal: AbortSignal) {
  if (!asked || asked.type === 'text') return undefined
  const given = asked.type === 'json_object' ? { type: 'object' } : asked.json_schema?.schema
  if (!given) throw invalid('response_format.json_schema.schema', 'must be a JSON Schema')
  const schema = withDoubles(given)
  const check = (json?: string) =>
    workers
      .run<string | undefined>({ file, name: 'check', timeoutMs, signal, argument: { schema, json } })
      .catch(error => {
        if (error instanceof WorkerTimeout) return 'checking it takes too long'
        throw error
      })
  const flaw = await check()
  if (flaw !== undefined) throw invalid('response_format', `can’t be used: ${flaw}`)
  return {
    schema,
    rule: `Answer with nothing but JSON that fits this JSON Schema: ${JSON.stringify(schema)}`,
    /** The JSON of an answer, which models like to write as a block of code; `repair` gives another one, once. Throws SCHEMA_MISMATCH. */
    async read(answer: string, repair: (problem: string) => Promise<string>): Promise<string> {
      const json = jsonOf(answer)
      const problem = await check(json)
      if (problem === undefined) return json
      const repaired = jsonOf(await repair(problem))
      const left = await check(repaired)
      if (left === undefined) return repaired
      throw new AppError('SCHEMA_MISMATCH', `The model gave no answer that fits response_format: ${left}.`)
    },
  }
}

/** In linear time: the text of a model may repeat what a stranger wrote. */
function jsonOf(answer: string): string {
  const text = answer.trim()
  const begin = text.indexOf('\n') + 1
  const isBlock = /^```(?:json)?\s*$/.test(text.slice(0, begin)) && text.endsWith('```')
  return isBlock ? text.slice(begin, -3).trim() : text
}
