import type { DataProblem } from '../engine/node-type.ts'

/** Returns a missing field, unless exactly one of these keys is present. */
export function exactlyOne(data: object, keys: readonly [string, ...string[]]): DataProblem | undefined {
  const givenKeys = keys.filter(key => Object.hasOwn(data, key))
  if (givenKeys.length === 1) return undefined
  return { field: keys[0], issue: `give exactly one of ${keys.join(', ')}` }
}
