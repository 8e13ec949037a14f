/** The part that runs in a thread of the worker pool; the other side is `form.ts`. */
import { Ajv } from 'ajv'
import { isDeeperThan, maxModelLevels } from '#platform/json-depth.ts'

/** Returns the problem of a JSON text, or of a schema; undefined if there is none. */
export function check({ schema, json }: { schema: object; json: string | undefined }): string | undefined {
  const ajv = new Ajv({ strict: false, validateFormats: false })
  try {
    const validate = ajv.compile(schema)
    if (json !== undefined && isDeeperThan(maxModelLevels, json))
      return `answer must not be nested more than ${maxModelLevels} levels deep`
    if (json === undefined || validate(JSON.parse(json))) return undefined
    return ajv.errorsText(validate.errors, { dataVar: 'answer' })
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
