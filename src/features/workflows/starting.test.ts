import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import { eventually } from '#test/support/eventually.ts'
import { openaiText, openaiToolCall } from '#test/support/model-server.ts'
import { workflowCalls } from '#test/support/workflows.ts'
import type { ExecutionSummary } from './workflows.schema.ts'

let stage: ChatStage

beforeAll(async () => {
  stage = await setChatStage()
})
afterAll(() => stage[Symbol.asyncDispose]())

/** An agent of its own: its chat, and its workflows. */
async function setAgent() {
  const chat = await stage.makeChat()
  const path = chat.replace(/\/chat$/, '')
  const list = async (workflow_id: string, status = '') => {
    const query = `workflow_id=${workflow_id}&order=asc${status && `&status=${status}`}`
    const answer = await stage.app.call<{ executions: ExecutionSummary[] }>(
      'GET',
      `${path}/workflows/executions?${query}`,
    )
    return answer.body.executions
  }
  return { chat, path, list, ...workflowCalls(stage.app, path) }
}

const onMessages = { type: 'trigger', event: 'message.received' }
const asking = { ask: { type: 'wait', approval: '?' } }
const idle = () => stage.app.service.infrastructure.runner.idle()

describe('events', () => {
  it('start the active workflows that name them, if their filter holds, once each', async () => {
    const agent = await setAgent()
    const filter = (operator: string) => [{ left: '{{conversationId}}', operator }]
    const started = await agent.create({ start: { ...onMessages, filter: filter('exists') } }, [])
    const filtered = await agent.create({ start: { ...onMessages, filter: filter('not_exists') } }, [])
    const draft = await agent.create({ start: onMessages }, [], { status: 'draft' })
    await stage.send(agent.chat, { content: 'Hello' })
    await eventually(async () => expect(await agent.list(started, 'complete')).toHaveLength(1))
    const [execution] = await agent.list(started)
    expect(execution?.cause).toEqual({ kind: 'event', ref: 'message.received' })
    expect((await agent.get(execution?.id ?? '')).body.input).toEqual({
      agent_id: agent.path.split('/')[3],
      message_id: expect.any(String),
      conversation_id: expect.any(String),
      created_at: expect.stringMatching(/Z$/),
    })
    await idle()
    expect([...(await agent.list(filtered)), ...(await agent.list(draft))]).toEqual([])
    await stage.app.call('PUT', `${agent.path}/workflows/${started}`, { body: { status: 'paused' } })
    await stage.send(agent.chat, { content: 'Hello again' })
    await idle()
    expect(await agent.list(started)).toHaveLength(1)
  })

  it('tell of each conversation that made room for a new one', async () => {
    const agent = await setAgent()
    const settings = (conversations_max: number) =>
      stage.app.call('PUT', `${agent.path}/settings`, { body: { conversations_max } })
    const begin = async () => {
      const body = { title: 'x' }
      return (await stage.app.call<{ id: string }>('POST', `${agent.chat}/conversations`, { body })).body.id
    }
    const id = await agent.create({ start: { type: 'trigger', event: 'conversation.evicted' } }, [], {
      concurrency: 10,
    })
    await settings(2)
    const evicted = [await begin(), await begin()]
    await settings(1)
    await begin()
    await eventually(async () => expect(await agent.list(id, 'complete')).toHaveLength(2))
    const inputs = await Promise.all(
      (await agent.list(id)).map(async execution => (await agent.get(execution.id)).body.input),
    )
    expect(inputs.map(input => Object(input).conversation_id).toSorted()).toEqual(evicted.toSorted())
  })

  it('can be read in camelCase by templates and code, as by those of earlier versions', async () => {
    const agent = await setAgent()
    const values = ['{{conversationId}}', '{{input.conversationId}}', '{{nodes.start.conversationId}}']
    const conditions = [...values, '{{nodes.code}}'].map(left => {
      return { left, operator: 'eq', right: '{{conversation_id}}' }
    })
    const code = { type: 'code', code: 'return args.input.conversationId' }
    const nodes = { start: onMessages, code, check: { type: 'if-else', conditions } }
    const id = await agent.create(nodes, ['start > code', 'code > check'])
    await stage.send(agent.chat, { content: 'Hello' })
    await eventually(async () => expect(await agent.list(id, 'complete')).toHaveLength(1))
    const [execution] = await agent.list(id)
    expect((await agent.get(execution?.id ?? '')).body).toMatchObject({ output: { result: true } })
  })

  it('that executions cause start at most ten in a row', async () => {
    const agent = await setAgent()
    const onAnswers = { type: 'trigger', event: 'message.sent' }
    const ask = { type: 'chat', message: 'Go on', conversation_id: '{{conversationId}}' }
    const id = await agent.create({ start: onAnswers, ask }, ['start > ask'], { concurrency: 100 })
    await stage.send(agent.chat, { content: 'Hello' })
    await eventually(async () => expect((await agent.list(id, 'complete')).length).toBeGreaterThan(10))
    await idle()
    expect(await agent.list(id)).toHaveLength(11)
  })

  it('are queued while their workflow is busy, and start in turn', async () => {
    const agent = await setAgent()
    const id = await agent.create({ start: onMessages, ...asking }, ['start > ask'])
    for (const content of ['one', 'two', 'three']) await stage.send(agent.chat, { content })
    await eventually(async () => expect(await agent.list(id, 'queued')).toHaveLength(2))
    const [first, second, third] = await agent.list(id)
    const end = (execution: ExecutionSummary | undefined) =>
      stage.app.call('POST', `${agent.path}/workflows/executions/${execution?.id}/terminate`)
    expect((await end(second)).status).toBe(200)
    await end(first)
    await agent.waiting(third?.id ?? '', 'ask')
    await end(third)
  })

  it('of executions start others, until the chain is too long', async () => {
    const agent = await setAgent()
    const chained = await agent.create({ start: { type: 'trigger', event: 'workflow.complete' } }, [])
    const nodes = { start: { type: 'trigger' }, fails: { type: 'loop', items: 'none' } }
    const failing = await agent.create(nodes, ['start > fails'])
    const filter = [{ left: '{{workflow_id}}', operator: 'eq', right: failing }]
    const onErrors = await agent.create({ start: { type: 'trigger', event: 'workflow.errored', filter } }, [])
    await agent.run(failing)
    // The one on errors has depth 1; its end starts the chained one, which starts itself, up to depth 10.
    await eventually(async () => expect(await agent.list(chained, 'complete')).toHaveLength(9))
    await idle()
    expect(await agent.list(chained)).toHaveLength(9)
    const [error, ...others] = await agent.list(onErrors)
    expect(others).toEqual([])
    expect((await agent.get(error?.id ?? '')).body.input).toMatchObject({
      workflow_id: failing,
      error: expect.stringContaining('fails'),
    })
  })
})

describe('a secret address', () => {
  it('starts its workflow with the body as input, until it is revoked', async () => {
    const agent = await setAgent()
    const id = await agent.create({ start: { type: 'trigger', event: 'webhook' } }, [])
    const hook = `${agent.path}/workflows/${id}/hook`
    const renew = async () => new URL((await stage.app.call<{ url: string }>('POST', hook)).body.url).pathname
    const call = (path: string, body: unknown = { n: 1 }) =>
      stage.app.call<{ execution_id: string }>('POST', path, { body })
    const former = await renew()
    const path = await renew()
    expect((await call(former)).status).toBe(404)
    const started = await call(path)
    expect(started).toMatchObject({ status: 200, body: { status: 'running' } })
    const execution = await agent.reached(started.body.execution_id, 'complete')
    expect(execution).toMatchObject({ input: { n: 1 }, cause: { kind: 'webhook' } })
    const listed = await call(path, [1, 2])
    expect((await agent.reached(listed.body.execution_id, 'complete')).input).toEqual({ body: [1, 2] })
    const wrong = [`${path}x`, path.slice(0, -5), path.replace(/[^/]*$/, 'undefined')]
    for (const one of [...wrong, path.replace(/agents\/[^/]*/, 'agents/default')])
      expect((await call(one)).status).toBe(404)
    await stage.app.call('PUT', `${agent.path}/workflows/${id}`, { body: { status: 'paused' } })
    expect((await call(path)).status).toBe(404)
    await stage.app.call('PUT', `${agent.path}/workflows/${id}`, { body: { status: 'active' } })
    expect((await stage.app.call('DELETE', hook)).status).toBe(200)
    expect((await call(path)).status).toBe(404)
    expect((await stage.app.call('DELETE', hook)).status).toBe(404)
    expect(stage.app.logged.join('')).not.toContain(path.split('/').at(-1))
  })

  it('leads nowhere while the trigger names another event', async () => {
    const agent = await setAgent()
    const id = await agent.create({ start: { type: 'trigger' } }, [])
    const { body } = await stage.app.call<{ url: string }>('POST', `${agent.path}/workflows/${id}/hook`)
    expect((await stage.app.call('POST', new URL(body.url).pathname, { body: {} })).status).toBe(404)
  })
})

describe('a workflow as a tool', () => {
  const tool = {
    name: 'check_total',
    description: 'Checks a total.',
    parameters: { properties: { total: { type: 'number' } }, required: ['total'] },
    requires_approval: false,
  }
  const call = () => ({ stream: openaiToolCall('check_total', { total: 7 }) })

  it('runs for a model, which is given its output, while it is active', async () => {
    const agent = await setAgent()
    const conditions = [{ left: '{{total}}', operator: 'gt', right: 5 }]
    const nodes = { start: { type: 'trigger' }, check: { type: 'if-else', conditions } }
    await agent.create(nodes, ['start > check'], { tool })
    const sleeping = { tool: { ...tool, name: 'sleeping' }, status: 'draft' }
    await agent.create({ start: { type: 'trigger' } }, [], sleeping)
    stage.model.next(call(), { stream: openaiText('Done.') })
    const { body } = await stage.send(agent.chat, { content: 'Check 7.' })
    expect(body.assistantMessage.toolResults).toMatchObject([
      { name: 'check_total', result: { result: true } },
    ])
    const offered = stage.model
      .questions()
      .at(-1)
      ?.tools?.map(one => one.function.name)
    expect(offered).toContain('check_total')
    expect(offered).not.toContain('sleeping')
  })

  it('tells the model why it failed', async () => {
    const agent = await setAgent()
    const nodes = { start: { type: 'trigger' }, fails: { type: 'loop', items: 'none' } }
    await agent.create(nodes, ['start > fails'], { tool })
    stage.model.next(call(), { stream: openaiText('Done.') })
    const { body } = await stage.send(agent.chat, { content: 'Check 7.' })
    expect(body.assistantMessage.toolResults?.[0]?.error).toMatch(/fails: items/)
  })

  it('waits for a person once outsiders may have steered the model, unless it need not', async () => {
    const agent = await setAgent()
    const asked = { tool: { ...tool, requires_approval: undefined } }
    await agent.create({ start: { type: 'trigger' } }, [], asked)
    // After the first result of a tool, what the model reads may have been written by outsiders.
    const search = { stream: openaiToolCall('search_knowledge', { query: 'totals' }) }
    stage.model.next(search, call(), { stream: openaiText('Done.') })
    const { body } = await stage.send(agent.chat, { content: 'Look it up, then check.' })
    const results = body.assistantMessage.toolResults ?? []
    expect(results.find(({ name }) => name === 'check_total')).toMatchObject({ approval: 'required' })
  })
})
