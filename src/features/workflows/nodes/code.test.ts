import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { heldStream } from '#test/support/chat-model.ts'
import { eventually } from '#test/support/eventually.ts'
import { type NodeAgent, type NodeStage, setNodeStage } from '#test/support/node-stage.ts'

let stage: NodeStage
let agent: NodeAgent

beforeAll(async () => {
  stage = await setNodeStage()
  agent = await stage.newAgent()
})
afterAll(() => stage[Symbol.asyncDispose]())

const code = (text: string, others: object = {}) => ({ type: 'code', code: text, ...others })

it('code gets the input, the outputs before it, the item of its loop, and its execution', async () => {
  const nodes = {
    start: { type: 'trigger' },
    first: code('return { sum: args.input.a + args.input.b }'),
    each: { type: 'loop', items: '{{list}}' },
    item: code('return [args.loop.index, args.loop.item, args.nodes.first.sum, args.execution.id]'),
  }
  const edges = ['start > first', 'first > each', 'each/item > item']
  const execution = await agent.run(await agent.create(nodes, edges), { a: 1, b: 2, list: ['x', 'y'] })
  expect(execution.status).toBe('complete')
  expect(agent.outputs(execution)).toMatchObject({
    first: { sum: 3 },
    'item 0': [0, 'x', 3, execution.id],
    'item 1': [1, 'y', 3, execution.id],
  })
})

it('templates in code are code', async () => {
  const { output } = await agent.runNode(code('return `{{input.a}}` + args.input.a'), { a: '`; return 1 //' })
  expect(output).toBe('{{input.a}}`; return 1 //')
})

it.each([
  ['throw new Error("no luck")', /no luck.*line 1/s],
  ['console.log("seen"); return new Promise(() => {})', /never.*seen/s],
  ['return args.missing.deeper', /TypeError/],
])('a failure of %s is the error of the node', async (text, message) => {
  const { status, error } = await agent.runNode(code(text))
  expect([status, error]).toEqual(['errored', expect.stringMatching(message)])
})

it('code that cannot be compiled is refused with node, line and column, but goes on where it is stored', async () => {
  for (const status of ['draft', 'active']) {
    const { status: answered, body } = await agent.save(code('const a = 1\nreturn a +* 2'), status)
    const issue = "SyntaxError: unexpected token in expression: '*' (line 2, column 11)"
    expect([answered, body.error.details.problems]).toEqual([
      400,
      [{ node: 'node', field: 'data.code', issue }],
    ])
    expect(body.error.message).toContain('node node: data.code SyntaxError')
  }
  const { body: saved } = await agent.save(code('return 1'))
  const put = (text: string, name: string) => {
    const nodes = saved.nodes.map(node => (node.id === 'node' ? { ...node, data: { code: text } } : node))
    return stage.app.call('PUT', `${agent.path}/workflows/${saved.id}`, { body: { name, nodes } })
  }
  await stage.app.service.infrastructure.agentDatabases.use(agent.path.split('/').at(-1) ?? '', ({ db }) => {
    const nodes = JSON.stringify(saved.nodes).replace('return 1', 'return (')
    return db.updateTable('workflow_versions').set({ nodes }).where('workflow_id', '=', saved.id).execute()
  })
  expect(await put('return (', 'New')).toMatchObject({ status: 200 })
  expect(await put('return ((', 'New')).toMatchObject({ status: 400 })
})

it('is tried again only where that is wanted', async () => {
  expect(await agent.runNode(code('throw 1'))).toMatchObject({ status: 'errored', attempts: 1 })
  const retries = { max: 2, delay_seconds: 0 }
  expect(await agent.runNode(code('throw 1', { retries }))).toMatchObject({ status: 'errored', attempts: 3 })
})

it('waits for a place in the sandbox, however many run', async () => {
  const slow = code('const end = Date.now() + 700; while (Date.now() < end) {} return args.loop.index', {
    timeout_seconds: 60,
  })
  const nodes = {
    start: { type: 'trigger' },
    each: { type: 'loop', items: '{{list}}', concurrency: 6 },
    slow,
  }
  const edges = ['start > each', 'each/item > slow']
  const execution = await agent.run(await agent.create(nodes, edges), { list: [0, 1, 2, 3, 4, 5] })
  expect(execution.status).toBe('complete')
  expect(agent.outputs(execution).each).toEqual({ items: [0, 1, 2, 3, 4, 5], errors: [] })
})

it('terminating an execution ends its code', async () => {
  const held = heldStream([''])
  stage.replyWith(() => held.reply)
  const id = await agent.begin(code('await (await fetch(args.input.url)).text()'), { url: stage.server.url })
  await held.begun
  expect(await agent.terminate(id)).toMatchObject({ status: 200 })
  let isEnded = false
  const ended = held.ended.then(() => {
    isEnded = true
  })
  // Long before its time is over.
  await eventually(() => expect(isEnded).toBe(true))
  await ended
  expect((await agent.get(id)).body).toMatchObject({ status: 'terminated', output: null })
})

it('is refused when it is saved without code or with other fields', async () => {
  expect((await agent.save(code('return 1', { language: 'python' }), 'draft')).status).toBe(400)
  expect((await agent.save({ type: 'code' }, 'draft')).body.warnings).toMatchObject([{ field: 'data.code' }])
  expect((await agent.save({ type: 'code' })).status).toBe(400)
})

const fixtures = process.env.REAL_FIXTURES ?? ''

describe.skipIf(fixtures === '')('what attackers write (needs REAL_FIXTURES)', () => {
  const read = () => JSON.parse(readFileSync(`${fixtures}/security/templates-and-code.json`, 'utf8'))

  it('reaches nothing as code', async () => {
    for (const text of read().code_snippets) {
      const { status, output } = await agent.runNode(code(text, { timeout_seconds: 2 }))
      expect(status === 'errored' || [2, null, undefined].includes(output as number), text).toBe(true)
    }
    expect([process.exitCode, 'x' in globalThis, 'polluted' in {}]).toEqual([undefined, false, false])
  })

  it('is text as a template, and as a value that a template puts in', async () => {
    const input = { contact: { name: 'Ada', tags: ['x'] } }
    const echo = (value: unknown) => ({
      type: 'http-request',
      method: 'POST',
      url: stage.server.url,
      body: { value },
    })
    const sent = () => Object(stage.server.requests.at(-1)?.body).value
    for (const text of read().template_expressions) {
      const { status } = await agent.save(echo(text))
      expect([201, 400]).toContain(status)
      if (status === 201) {
        await agent.runNode(echo(text), input)
        expect([text, 'Ada', 'x', null], text).toContainEqual(sent())
      }
      await agent.runNode(echo('{{text}}'), { ...input, text })
      expect(sent()).toBe(text)
      await agent.runNode(echo('<{{text}}>'), { ...input, text })
      expect(sent()).toBe(`<${text}>`)
    }
  })
})
