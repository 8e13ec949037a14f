import type { TObject } from 'typebox'
import { problemOf } from '#platform/schema-check.ts'

/** Something that a model may call, wherever it comes from. */
export interface Tool {
  /** As models take it: letters, digits, `_` and `-`, at most 64 of them. */
  name: string
  description: string
  /** JSON Schema of an object. */
  parameters: ToolParameters
  /** It comes with the service: a model is told of it, however many others there are. */
  isBuiltIn?: boolean
  /** Whether its answer may differ from call to call, so that a repeat is one only if no other call came between. */
  observesChange?: boolean
  /** Whether a person has to agree to a call that may have been put into the model's mind by what outsiders wrote. */
  requiresApproval?: boolean
  /** Another one for every other tool and every other configuration of it: what a person agrees to is a call of this one. */
  version?(): string
  /** What is wrong with the arguments, or undefined. */
  check(input: Record<string, unknown>): Promise<string | undefined>
  /** May throw: the message becomes the call's error. */
  execute(input: Record<string, unknown>, signal: AbortSignal): Promise<unknown>
}

export interface ToolParameters {
  type: 'object'
  properties: Record<string, unknown>
  required?: string[]
  [keyword: string]: unknown
}

/** The parts of a tool of ours that follow from the schema of its arguments. */
export function fromSchema(schema: TObject): Pick<Tool, 'parameters' | 'check'> {
  return {
    parameters: JSON.parse(JSON.stringify(schema)),
    check: async input => argumentProblem(problemOf(schema, input)),
  }
}

/** What a model is told that is to call again with better arguments. */
export function argumentProblem(problem: string | undefined): string | undefined {
  return problem === undefined ? undefined : `The arguments do not fit: ${problem}.`
}
