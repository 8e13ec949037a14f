import type { TObject } from 'typebox'
import { problemOf } from '#platform/schema-check.ts'
import type { Tool } from '../turn/turn.ts'

/** The parts of a tool that follow from the schema of its arguments. */
export function fromSchema(schema: TObject): Pick<Tool, 'parameters' | 'check'> {
  return {
    parameters: JSON.parse(JSON.stringify(schema)),
    check(input) {
      const problem = problemOf(schema, input)
      return problem === undefined ? undefined : `The arguments do not fit: ${problem}.`
    },
  }
}
