import type { TObject } from 'typebox'
import { Value } from 'typebox/value'
import type { Tool } from '../turn/turn.ts'

/** The parts of a tool that follow from the schema of its arguments. */
export function fromSchema(schema: TObject): Pick<Tool, 'parameters' | 'check'> {
  return {
    parameters: JSON.parse(JSON.stringify(schema)),
    check(input) {
      const problem = Value.Errors(schema, input)[0]
      return problem === undefined
        ? undefined
        : `The argument ${problem.instancePath.slice(1) || 'object'} ${problem.message}.`
    },
  }
}
