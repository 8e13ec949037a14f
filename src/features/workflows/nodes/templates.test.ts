import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type NodeAgent, type NodeStage, setNodeStage } from '#test/support/node-stage.ts'

let stage: NodeStage
let agent: NodeAgent

beforeAll(async () => {
  stage = await setNodeStage()
  agent = await stage.newAgent()
})
afterAll(() => stage[Symbol.asyncDispose]())

const mail = (subject: string) => ({ type: 'email', to: 'a@example.com', subject, body: 'x' })
const request = (others: object) => ({
  type: 'http-request',
  method: 'POST',
  url: 'https://example.com/',
  ...others,
})

describe('braces that are no template are refused with node and field', () => {
  it.each([
    [mail('Dear {{ last name }}'), 'data.subject', '{{ last name }}'],
    [mail('{{ name | upper }}'), 'data.subject', '{{ name | upper }}'],
    [mail('{{#unless paid}}Pay{{/unless}}'), 'data.subject', '{{#unless paid}}'],
    [mail('{{   }}'), 'data.subject', '{{   }}'],
    [mail('{{name}'), 'data.subject', '{{name}'],
    [{ ...mail('x'), to: ['{{ mail of contact }}'] }, 'data.to.0', '{{ mail of contact }}'],
    [request({ url: 'https://example.com/{{ order id }}' }), 'data.url', '{{ order id }}'],
    [request({ headers: { 'X-A': '{{ a b }}' } }), 'data.headers.X-A', '{{ a b }}'],
    [request({ query: { q: ['{{ a b }}'] } }), 'data.query.q.0', '{{ a b }}'],
    [request({ body: { a: [{ b: '{{= x }}' }] } }), 'data.body.a.0.b', '{{= x }}'],
    [request({ body: { '{{key}}': 1 } }), 'data.body', '{{key}}'],
    [request({ body: '{"n": {{ n + 1 }}}' }), 'data.body', '{{ n + 1 }}'],
    [{ type: 'loop', items: '{{rows[]}}' }, 'data.items', '{{rows[]}}'],
    [
      { type: 'if-else', conditions: [{ left: '{{a.b()}}', operator: 'exists' }] },
      'data.conditions.0.left',
      '{{a.b()}}',
    ],
    [{ type: 'wait', approval: 'Send {{{offer}}}?' }, 'data.approval', '{{{offer}}}'],
    [{ type: 'chat', message: '{{$json["a"] || 1}}' }, 'data.message', '{{$json["a"] || 1}}'],
    [{ type: 'telegram', chat_id: '1', text: '{{name!}}' }, 'data.text', '{{name!}}'],
    [
      { type: 'whatsapp', to: '1', template: { name: 'n', language: 'en', parameters: ['{{1 2}}'] } },
      'data.template.parameters.0',
      '{{1 2}}',
    ],
    [{ type: 'navigate', url: 'https://example.com', wait_for: '{{ #a }}' }, 'data.wait_for', '{{ #a }}'],
  ])('%j', async (node, field, shown) => {
    for (const status of ['draft', 'active']) {
      const { status: answered, body } = await agent.save(node, status)
      expect(answered).toBe(400)
      const problem = { node: 'node', field, issue: expect.stringMatching(/^has .*(?:no path|not read)/) }
      expect(body.error.details.problems).toContainEqual(problem)
      expect(body.error.message).toContain(shown)
    }
  })
})

it.each([
  mail('{{items[0]["first name"]}} and {{ items.0.name }}'),
  mail('\\{{ first name }} and \\{{#if vip}}'),
  { type: 'code', code: 'return `{{ first name }}`' },
  request({ body: '{"a":{"b":{"c":{{n}}}}}' }),
])('is silent on %j', async node => {
  const { status, body } = await agent.save(node)
  expect([status, body.warnings]).toEqual([201, []])
})

it('reads indexes and keys in brackets, and writes braces after a backslash', async () => {
  const [left, right] = ['{{rows[1]["first name"]}} \\{{ x y }}', 'Ada \\{{ x y }}']
  const node = { type: 'if-else', conditions: [{ left, operator: 'eq', right }] }
  const { output } = await agent.runNode(node, { rows: [0, { 'first name': 'Ada' }] })
  expect(output).toEqual({ result: true })
})

it('stored workflows go on as they are, with a warning', async () => {
  const { body: saved } = await agent.save({
    type: 'switch',
    value: 'a',
    cases: [{ handle: 'b', value: 'c' }],
  })
  const url = `${agent.path}/workflows/${saved.id}`
  const agentId = agent.path.split('/').at(-1) ?? ''
  const data = { value: 'Hi {{ first name }}', cases: [{ handle: 'as it is', value: 'Hi {{ first name }}' }] }
  await stage.app.service.infrastructure.agentDatabases.use(agentId, async ({ db }) => {
    const nodes = saved.nodes.map(node => (node.id === 'node' ? { ...node, data } : node))
    await db
      .updateTable('workflow_versions')
      .set({ nodes: JSON.stringify(nodes) })
      .where('workflow_id', '=', saved.id)
      .execute()
  })
  const { body: read } = await stage.app.call<typeof saved>('GET', url)
  expect(read.warnings.map(({ node, field }) => [node, field])).toEqual([
    ['node', 'data.value'],
    ['node', 'data.cases.0.value'],
  ])
  const put = (changes: object) => stage.app.call<typeof saved>('PUT', url, { body: changes })
  expect(await put({ name: 'New', nodes: read.nodes })).toMatchObject({
    status: 200,
    body: { warnings: read.warnings },
  })
  const { body } = await agent.execute({ workflow_id: saved.id })
  const { node_results } = await agent.reached(body.execution_id, 'complete')
  expect(node_results.find(({ node_id }) => node_id === 'node')?.output).toEqual({ handle: 'as it is' })
  const nodes = read.nodes.map(node => ({ ...node, data: { ...node.data, value: '{{ last name }}' } }))
  expect(await put({ nodes: [read.nodes[0], nodes[1]] })).toMatchObject({ status: 400 })
})
