import type { TObject } from 'typebox'
import { problemOf } from '#platform/schema-check.ts'
import type { ApprovalRule } from './approval-rule.ts'

/** Something that a model may call, wherever it comes from. */
export interface Tool {
  /** As models accept it: letters, digits, `_` and `-`, at most 64 of them. */
  name: string
  description: string
  /** JSON Schema of an object. */
  parameters: ToolParameters
  /** It is part of the service: the model is offered it, however many others there are. */
  isBuiltIn?: boolean
  /** It is run by the caller of the turn, which a call of it ends. */
  isCallers?: boolean
  /** Whether its answer may differ from call to call, so that only an immediate repetition counts as one. */
  observesChange?: boolean
  /** Whether a call changes nothing, so that one that may have been made can be made again; absent if none is so. */
  readsOnly?(): Promise<boolean>
  requiresApproval?: ApprovalRule
  /** Who decides beside admins and owners; none of them for a tool that pays. */
  approvers?: 'admins' | 'chat'
  /** The arguments without what must not be stored or shown; as they are if it is absent. */
  shown?(input: Record<string, unknown>): Promise<Record<string, unknown>>
  /** Different for every tool and every configuration of it: a person approves calls of exactly this one. */
  version?(): string
  /** The problem of the arguments, or undefined. */
  check(input: Record<string, unknown>): Promise<string | undefined>
  /** May throw: the message becomes the call's error. */
  execute(input: Record<string, unknown>, signal: AbortSignal, cause?: Cause): Promise<unknown>
}

/** Why a model calls a tool. */
export interface Cause {
  /** The message that it answers. */
  messageId: string
}

export interface ToolParameters {
  type: 'object'
  properties: Record<string, unknown>
  required?: string[]
  [keyword: string]: unknown
}

/** The parts of a built-in tool that follow from the schema of its arguments. */
export function fromSchema(schema: TObject): Pick<Tool, 'parameters' | 'check'> {
  return {
    parameters: JSON.parse(JSON.stringify(schema)),
    async check(input) {
      const problem = problemOf(schema, input)
      return argumentProblem(problem && `${problem.field} ${problem.issue}`.trim())
    },
  }
}

/** The message to a model that has to call again with better arguments. */
export function argumentProblem(problem: string | undefined): string | undefined {
  return problem === undefined ? undefined : `The arguments do not fit: ${problem}.`
}
