import type { TObject } from 'typebox'
import { problemOf } from '#platform/schema-check.ts'
import type { ApprovalRule } from './approval-rule.ts'

/** A function that a model can call, of any origin. */
export interface Tool {
  /** A name that models accept: letters, digits, `_` and `-`, at most 64 of them. */
  name: string
  description: string
  /** The JSON Schema of an object. */
  parameters: ToolParameters
  /** True for a part of the service, which the model is offered beside any number of other tools. */
  isBuiltIn?: boolean
  /** True for a tool that the turn's caller runs; calling it ends the turn. */
  isCallers?: boolean
  /** True if its answer can differ from call to call, so only an immediate repetition counts as one. */
  observesChange?: boolean
  /** True if a call changes nothing, so it is safe to repeat; absent if every call might. */
  readsOnly?(): Promise<boolean>
  requiresApproval?: ApprovalRule
  /** Returns the egress of a call; absent for a tool that sends nothing, undefined for a call that can't be made. */
  egress?(input: Record<string, unknown>): Promise<Egress | undefined> | Egress | undefined
  /**
   * Where results come from: `own`: data of the agent; `computed`: the arguments alone; a function: the ids of the agent's
   * sources in a result, undefined for data of unknown sources. Defaults to others, such as a page or a service.
   */
  origin?: 'own' | 'computed' | ((result: unknown) => string[] | undefined)
  /** Who else may approve calls. Tools that pay allow no others. */
  approvers?: 'admins' | 'chat'
  /** Returns the arguments without parts that must not be stored or shown; defaults to all arguments. */
  shown?(input: Record<string, unknown>): Promise<Record<string, unknown>>
  /** Differs for every tool and configuration: a person approves calls of only this version. */
  version?(): string
  /** Returns the problem of the arguments, or undefined. */
  check(input: Record<string, unknown>): Promise<string | undefined>
  /** Runs the call. An error's message becomes the call's error. */
  execute(input: Record<string, unknown>, signal: AbortSignal, cause?: Cause): Promise<unknown>
}

/** The content that a call sends out of the service, beside the addresses that stand in its arguments. */
export interface Egress {
  /** The receiver: an address, or words for a person. */
  to: string
  /** `nothing`: the address alone; `arguments`: to a receiver that the tool's definition fixes; `text`: to any receiver. */
  carries: 'nothing' | 'arguments' | 'text'
  /** Pieces of the address that the model wrote and that no definition places in a query or a body. */
  pieces?: readonly string[]
}

/** The cause of a call. */
export interface Cause {
  /** The message that the call answers. */
  messageId: string
}

export interface ToolParameters {
  type: 'object'
  properties: Record<string, unknown>
  required?: string[]
  [keyword: string]: unknown
}

/** Returns the parts of a built-in tool that follow from the schema of its arguments. */
export function fromSchema(schema: TObject): Pick<Tool, 'parameters' | 'check'> {
  return {
    parameters: JSON.parse(JSON.stringify(schema)),
    async check(input) {
      const problem = problemOf(schema, input)
      return argumentProblem(problem && `${problem.field} ${problem.issue}`.trim())
    },
  }
}

/** Returns the message to a model that must call again with better arguments. */
export function argumentProblem(problem: string | undefined): string | undefined {
  return problem === undefined ? undefined : `The arguments do not fit: ${problem}.`
}
