import { Type } from 'typebox'
import { conditionSchema } from '../engine/conditions.ts'
import { defineNode, nodeData } from './node-type.ts'

const schema = nodeData({
  event: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  filter: Type.Optional(Type.Array(conditionSchema, { maxItems: 50 })),
})

/** Where an execution begins; its filter was applied before. */
export const trigger = defineNode(schema, {
  literal: ['event', 'filter'],
  run: async ({ scope }) => ({ output: scope.input }),
})
