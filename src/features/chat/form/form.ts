import type { CallOptions } from '#models/language-model/language-model.ts'
import { AppError, invalid } from '#platform/errors.ts'
import { parseJson, withDoubles } from '#platform/exact-json.ts'
import { WorkerCrashed, type WorkerPool, WorkerTimeout } from '#platform/workers/worker-pool.ts'

import { maxSchema, type ResponseFormat } from './response-format.ts'

const file = new URL('./form.worker.ts', import.meta.url)
const timeoutMs = 2000
/** An accepted answer: its JSON, and its value. */
export interface Accepted {
  json: string
  value: unknown
}

/** The form that an answer must have. */
export interface Form {
  call: Pick<CallOptions, 'responseFormat' | 'providerOptions'>
  /** The rule for the model, in words. */
  rule: string
  /**
   * Accepts an answer, or the answer that `repair` returns for its problem, once. JSON in a code block counts. Throws
   * SCHEMA_MISMATCH.
   */
  read(answer: string, repair: (problem: string) => Promise<string>, signal: AbortSignal): Promise<Accepted>
}

/**
 * Schemas are the caller's and can take any time, so a thread that can be killed compiles and checks them. Returns undefined
 * for plain text. Throws VALIDATION_ERROR for a schema that can't be used.
 */
export async function formOf(
  workers: WorkerPool,
  wanted: ResponseFormat | null | undefined,
): Promise<Form | undefined> {
  if (!wanted || wanted.type === 'text') return undefined
  const { name = 'answer', strict = false, ...of } = wanted.json_schema ?? {}
  const given = wanted.type === 'json_object' ? { type: 'object' } : of.schema
  if (!given) throw invalid('response_format.json_schema.schema', 'must be a JSON Schema')
  const schema = withDoubles(given)
  const text = JSON.stringify(schema)
  if (text.length > maxSchema)
    throw invalid('response_format', `can’t be used: its schema has more than ${maxSchema} characters`)
  const check = (json?: string, signal?: AbortSignal) =>
    workers
      .run<string | undefined>({
        file,
        name: 'check',
        timeoutMs,
        argument: { schema, json },
        ...(signal && { signal }),
      })
      .catch((error: unknown) => {
        if (error instanceof WorkerTimeout || error instanceof WorkerCrashed)
          return 'checking it takes too long'
        throw error
      })
  const flaw = await check()
  if (flaw !== undefined) throw invalid('response_format', `can’t be used: ${flaw}`)
  return {
    call: {
      responseFormat: { type: 'json', name, schema },
      providerOptions: { openai: { strictJsonSchema: strict } },
    },
    rule: `Answer with nothing but JSON that fits this JSON Schema: ${text}`,
    async read(answer, repair, signal) {
      const json = jsonOf(answer)
      const problem = await check(json, signal)
      if (problem === undefined) return { json, value: parseJson(json) }
      const repaired = jsonOf(await repair(problem))
      const left = await check(repaired, signal)
      if (left === undefined) return { json: repaired, value: parseJson(repaired) }
      throw new AppError('SCHEMA_MISMATCH', `The model gave no answer that fits response_format: ${left}.`)
    },
  }
}

/** Finds the JSON in linear time, because a model's text can repeat a stranger's. */
function jsonOf(answer: string): string {
  const text = answer.trim()
  const begin = text.indexOf('\n') + 1
  const isBlock = /^```(?:json)?\s*$/.test(text.slice(0, begin)) && text.endsWith('```')
  return isBlock ? text.slice(begin, -3).trim() : text
}
