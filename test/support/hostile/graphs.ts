/** Graphs and inputs that once blocked the event loop for seconds, filled gigabytes, or would without a limit. */
import { edgesOf, nodesOf } from '../workflows.ts'

export interface HostileGraph {
  name: string
  /** The body of a request that creates it. */
  workflow: { name: string; status: 'active'; nodes: object[]; edges: object[] }
  input: object
  /** What becomes of its execution. */
  ends: { status: 'complete' | 'errored'; error: RegExp | null }
}

type Nodes = Parameters<typeof nodesOf>[0]

const complete = { status: 'complete', error: null } as const
const tooMany = { status: 'errored', error: /at most 10000 results of nodes/ } as const

/** @param scale 1 for those that were seen; smaller ones are quicker, and no less hostile in kind. */
export function hostileGraphs(scale = 1): HostileGraph[] {
  const count = (full: number) => Math.ceil(full * scale)
  const list = (length: number) => Array.from({ length }, (_, index) => index)
  const graph = (
    name: string,
    nodes: Nodes,
    edges: string[],
    input: object,
    ends: HostileGraph['ends'] = complete,
  ): HostileGraph => ({
    name,
    workflow: {
      name,
      status: 'active',
      nodes: nodesOf({ start: { type: 'trigger' }, ...nodes }),
      edges: edgesOf(...edges),
    },
    input,
    ends,
  })
  const condition = (
    name: string,
    operator: string,
    input: { left: unknown; right: unknown },
    ends: HostileGraph['ends'] = complete,
  ) =>
    graph(
      `${operator}: ${name}`,
      { check: { type: 'if-else', conditions: [{ left: '{{left}}', operator, right: '{{right}}' }] } },
      ['start > check'],
      input,
      ends,
    )
  const repetitive = { left: 'a'.repeat(300_000), right: `${'a'.repeat(200)}b${'a'.repeat(100_000)}` }
  const loop = { type: 'loop', items: '{{list}}' }
  const check = { type: 'if-else', conditions: [{ left: 1, operator: 'exists' }] }
  const chain = Object.fromEntries(list(9).map(index => [`n${index}`, check]))
  const gone = '{{gone.abcdefgh}}'

  return [
    condition('repetitive texts', 'contains', repetitive),
    condition('repetitive texts', 'not_contains', repetitive),
    condition('a repetitive text in another', 'in', { left: repetitive.right, right: repetitive.left }),
    condition('a long number among many', 'contains', {
      left: list(count(19_000)).map(() => '1'),
      right: '1'.repeat(count(900_000)),
    }),
    condition('a large object among many', 'contains', {
      left: list(count(6_000)).map(() => ({})),
      right: Object.fromEntries(list(count(3_000)).map(index => [`k${index}`, 1])),
    }),
    condition('large lists', 'eq', {
      left: list(count(4_500)).map(() => []),
      right: list(count(4_500)).map(() => []),
    }),
    graph(
      'fifty searches of one node',
      {
        check: {
          type: 'if-else',
          match: 'any',
          conditions: list(50).map(() => ({ left: '{{left}}', operator: 'contains', right: '{{right}}' })),
        },
      },
      ['start > check'],
      { left: 'a'.repeat(60_000), right: `${'a'.repeat(200)}b${'a'.repeat(18_000)}` },
    ),
    graph(
      'a side of a search over 1 MiB',
      {
        check: {
          type: 'if-else',
          conditions: [{ left: '{{text}}{{text}}', operator: 'contains', right: 'b' }],
        },
      },
      ['start > check'],
      { text: 'a'.repeat(600_000) },
      { status: 'errored', error: /has a side of 1200000 bytes; it searches texts of at most 1048576 bytes/ },
    ),
    graph(
      'many templates that lead nowhere, in a loop',
      {
        each: loop,
        node: { ...check, conditions: [{ left: gone.repeat(count(60_000)), operator: 'exists' }] },
      },
      ['start > each', 'each/item > node'],
      { list: list(count(200)) },
    ),
    graph(
      'many different templates that lead nowhere',
      {
        node: {
          ...check,
          conditions: [
            {
              left: list(count(50_000))
                .map(index => `{{gone.n${index}}}`)
                .join(''),
              operator: 'exists',
            },
          ],
        },
      },
      ['start > node'],
      {},
    ),
    graph(
      'a loop of 1,000 with nine nodes',
      { each: loop, ...chain },
      ['start > each', 'each/item > n0', ...list(8).map(index => `n${index}/true > n${index + 1}`)],
      { list: list(count(1_000)) },
    ),
    graph(
      'three loops of 1,000 within each other',
      {
        one: loop,
        // At full size, one after the other: the last that fit within the limit are run.
        two: { ...loop, concurrency: scale === 1 ? 1 : 20 },
        three: loop,
        check,
      },
      ['start > one', 'one/item > two', 'two/item > three', 'three/item > check'],
      { list: list(1_000) },
      tooMany,
    ),
    graph(
      'three loops of 20 at a time within each other',
      {
        one: { ...loop, concurrency: 20 },
        two: { ...loop, concurrency: 20 },
        three: { ...loop, concurrency: 20 },
        check,
      },
      ['start > one', 'one/item > two', 'two/item > three', 'three/item > check'],
      { list: list(count(20)) },
    ),
    graph(
      'a loop of 1,000 with eleven nodes at a time',
      { each: loop, ...Object.fromEntries(list(11).map(index => [`n${index}`, check])) },
      ['start > each', ...list(11).map(index => `each/item > n${index}`)],
      { list: list(1_000) },
      tooMany,
    ),
    graph(
      'the outputs of all nodes as one text',
      {
        ...Object.fromEntries(
          list(2).map(index => [`n${index}`, { type: 'code', code: "return 'x'.repeat(900_000)" }]),
        ),
        node: { ...check, conditions: [{ left: '{{nodes}}', operator: 'exists' }] },
      },
      ['start > n0', 'n0 > n1', 'n1 > node'],
      {},
      { status: 'errored', error: /nodes.*is too long/ },
    ),
    graph(
      'a list of items over 1 MiB',
      { each: { type: 'loop', items: ['{{text}}', '{{text}}'] } },
      ['start > each'],
      { text: 'a'.repeat(600_000) },
      { status: 'errored', error: /has 1200\d+ bytes or more; at most 1048576/ },
    ),
  ]
}
