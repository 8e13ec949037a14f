import type { FastifyRequest } from 'fastify'
import { invalid } from '../../errors.ts'
import { mayBeInexact, parseJson } from '../../exact-json.ts'
import { isDeeperThan, maxLevels } from '../../json-depth.ts'
import { hasMoreValuesThan, maxValues, withoutLongStrings } from '../../json-values.ts'
import type { App } from '../app.ts'
import { requireStorableJson } from './storable-text.ts'

/** Returns a function that reads a JSON body, undefined for an empty one; it throws the error for the response. */
export function jsonReader(app: App): (request: FastifyRequest, text: string) => unknown {
  const parseSafely = app.getDefaultJsonParser('error', 'error')
  return (request, given) => {
    const text = given.replace(/^\uFEFF/, '')
    if (text === '') return undefined
    const { jsonValues = maxValues } = request.routeOptions.config
    if (hasMoreValuesThan(text, jsonValues))
      throw invalid('body', `must not hold more than ${jsonValues} values`)
    // Done only now, because it takes time for each string.
    const outline = withoutLongStrings(text)
    let outcome: [error: Error | null, value?: unknown] = [null]
    void parseSafely(request, text, (error, value) => {
      outcome = [error, value]
    })
    const [error, value] = outcome
    if (error !== null && isJson(text))
      throw invalid('body', 'must not hold a field named __proto__, or a prototype in a constructor')
    if (error !== null) throw error
    requireStorableJson(text, value)
    if (isDeeperThan(maxLevels, outline))
      throw invalid('body', `must not be nested more than ${maxLevels} levels deep`)
    return mayBeInexact(outline) ? parseJson(text) : value
  }
}

/** Classifies a rejected body: Fastify has one error for bad JSON and for JSON that could change the prototype of all objects. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
