import { describe, expect, it } from 'vitest'
import type { Definition } from './requests.ts'
import { exampleInput, stepsOf, summaryOf } from './steps.ts'

/** Nodes as `id:type`, edges as `a > b` or `a/exit > b`. */
function definitionOf(nodes: string[], edges: string[], data: Record<string, unknown> = {}): Definition {
  return {
    nodes: nodes.map(text => {
      const [id = '', type = 'code'] = text.split(':')
      return { id, type, data: (data[id] ?? {}) as Record<string, unknown>, position: { x: 0, y: 0 } }
    }),
    edges: edges.map(text => {
      const [from = '', target = ''] = text.split(' > ')
      const [source = '', sourceHandle] = from.split('/')
      return { id: text, source, target, ...(sourceHandle !== undefined && { sourceHandle }) }
    }),
  }
}

const orders: [string, string[], string[], string[]][] = [
  ['a chain', ['b', 'a', 's:trigger'], ['s > a', 'a > b'], ['s', 'a', 'b']],
  ['branches, yes first', ['s:trigger', 'n', 'y'], ['s/false > n', 's/true > y'], ['s', 'y', 'n']],
  [
    'a join stands behind both of its branches',
    ['s:trigger', 'j', 'a', 'b'],
    ['s > a', 's > b', 'a > j', 'b > j'],
    ['s', 'a', 'b', 'j'],
  ],
  [
    'the body of a loop before what comes after',
    ['s:trigger', 'after', 'l:loop', 'x', 'y'],
    ['s > l', 'l/done > after', 'l/item > x', 'x > y', 'y > l'],
    ['s', 'l', 'x', 'y', 'after'],
  ],
  ['what nothing leads to stands last', ['lost', 's:trigger', 'a'], ['s > a'], ['s', 'a', 'lost']],
  ['edges to nowhere are left out', ['s:trigger'], ['s > gone', 'gone > s'], ['s']],
]

it.each(orders)('%s', (_name, nodes, edges, ids) => {
  expect(stepsOf(definitionOf(nodes, edges)).map(({ id }) => id)).toEqual(ids)
})

it('steps know how many loops are around them', () => {
  const edges = ['s > l', 'l/item > m', 'm/item > x', 'x > m', 'm/done > y', 'y > l', 'l/done > z']
  const steps = stepsOf(definitionOf(['s:trigger', 'l:loop', 'm:loop', 'x', 'y', 'z'], edges))
  expect(steps.map(({ id, depth }) => [id, depth])).toEqual([
    ['s', 0],
    ['l', 0],
    ['m', 1],
    ['x', 2],
    ['y', 1],
    ['z', 0],
  ])
})

describe('an example of the input', () => {
  it.each([
    ['{{order.id}} {{ order.total }}', { order: { id: '', total: '' } }],
    ['{{order}} {{order.id}}', { order: { id: '' } }],
    ['{{order.id}} {{order}}', { order: { id: '' } }],
    ['{{nodes.a.b}} {{loop.item}} {{now}} {{trigger.query.a}}', {}],
    ['{{items[0].name}}', { items: '' }],
    ['no template', {}],
    ['{{constructor.name}}', { constructor: { name: '' } }],
  ])('of %s', (message, input) => {
    const definition = definitionOf(['s:trigger', 'a:chat'], [], { a: { nested: [{ message }] } })
    expect(exampleInput(definition)).toEqual(input)
  })
})

it.each([
  [{ seconds: 60 }, '60 s'],
  [{ method: 'POST', url: 'https://shop.example/orders' }, 'POST https://shop.example/orders'],
  [{ conditions: [{ left: '{{a}}', operator: 'gte', right: 100 }, null] }, '{{a}} gte 100, '],
  [{ message: 'x'.repeat(300) }, `${'x'.repeat(200)}…`],
  [{ items: ['a', 1] }, '["a",1]'],
  [{}, ''],
])('%j in a line', (data, line) => expect(summaryOf({ data })).toBe(line))
