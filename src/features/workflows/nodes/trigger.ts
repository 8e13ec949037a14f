import { type Static, Type } from 'typebox'
import { conditionSchema } from '../engine/conditions.ts'
import { type DataProblem, defineNode, nodeData } from '../engine/node-type.ts'
import { hookResponseProblem, hookResponseSchema } from './hook-response.ts'

const schema = nodeData({
  event: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  filter: Type.Optional(Type.Array(conditionSchema, { maxItems: 50 })),
  respond: Type.Optional(Type.Enum(['at_once', 'at_end'])),
  response: Type.Optional(hookResponseSchema),
})

/** The beginning of an execution; its filter was applied before. */
export const trigger = defineNode(schema, {
  onlyComputes: true,
  literal: ['event', 'filter', 'respond', 'response'],
  problem: answerProblem,
  run: async ({ scope }) => ({ output: scope.input }),
})

function answerProblem({ event, respond, response }: Static<typeof schema>): DataProblem | undefined {
  if (respond !== undefined && event !== 'webhook')
    return { field: 'respond', issue: 'is for the event webhook only, whose callers get an answer' }
  if (response === undefined) return undefined
  if (respond !== 'at_end') return { field: 'response', issue: 'needs respond to be at_end' }
  const problem = hookResponseProblem(response)
  return problem && { field: `response.${problem.field}`, issue: problem.issue }
}
