import { Type } from 'typebox'
import { holds, operators } from '../engine/conditions.ts'
import { defineNode, nodeData } from '../engine/node-type.ts'

const caseSchema = Type.Object(
  {
    handle: Type.String({ minLength: 1, maxLength: 64 }),
    operator: Type.Optional(Type.Enum([...operators])),
    value: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: false },
)
const schema = nodeData({
  value: Type.Unknown(),
  cases: Type.Array(caseSchema, { minItems: 1, maxItems: 50 }),
})

export const switchNode = defineNode(schema, {
  onlyComputes: true,
  handles: ({ cases }) => [...(Array.isArray(cases) ? cases : []).map(one => Object(one).handle), 'default'],
  async run({ data: { value, cases } }) {
    for (const { handle, operator = 'eq', value: right } of cases)
      if (await holds({ left: value, operator, right })) return { output: { handle }, handle }
    return { output: { handle: 'default' }, handle: 'default' }
  },
})
