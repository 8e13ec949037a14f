import { Type } from 'typebox'
import { invalid } from '#platform/errors.ts'
import { defineNode, nodeData } from '../engine/node-type.ts'

const maxItems = 1000

const schema = nodeData({
  items: Type.Unknown(),
  concurrency: Type.Optional(Type.Integer({ minimum: 1, maximum: 20 })),
  on_item_error: Type.Optional(Type.Enum(['stop', 'continue'])),
})

export const loop = defineNode(schema, {
  onlyComputes: true,
  handles: () => ['done', 'item'],
  async run({ data: { items, concurrency = 1, on_item_error } }) {
    if (!Array.isArray(items))
      throw invalid('items', 'is not a list: name one, as in {{nodes.list.body.rows}}')
    if (items.length > maxItems)
      throw invalid('items', `has ${items.length} entries; a loop takes at most ${maxItems}`)
    return { items, concurrency, stopsOnError: on_item_error !== 'continue' }
  },
})
