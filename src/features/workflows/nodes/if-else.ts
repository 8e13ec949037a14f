import { Type } from 'typebox'
import { conditionSchema, match } from '../engine/conditions.ts'
import { defineNode, nodeData } from '../engine/node-type.ts'

const schema = nodeData({
  match: Type.Optional(Type.Enum(['all', 'any'])),
  conditions: Type.Array(conditionSchema, { minItems: 1, maxItems: 50 }),
})

export const ifElse = defineNode(schema, {
  onlyComputes: true,
  handles: () => ['true', 'false'],
  async run({ data }) {
    const result = await match(data.conditions, data.match)
    return { output: { result }, handle: String(result) }
  },
})
