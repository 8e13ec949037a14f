import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ChatModel, heldStream, refusal, startChatModel, usualAnswer } from '#test/support/chat-model.ts'
import { openaiText, openaiToolCall, type Reply } from '#test/support/model-server.ts'
import { type NodeAgent, type NodeStage, setNodeStage } from '#test/support/node-stage.ts'

let model: ChatModel
let stage: NodeStage
let agent: NodeAgent

beforeAll(async () => {
  model = await startChatModel()
  stage = await setNodeStage(model.environment)
  agent = await stage.newAgent()
})
afterAll(async () => {
  await stage[Symbol.asyncDispose]()
  await model[Symbol.asyncDispose]()
})

const chat = (message: string, others: object = {}) => ({ type: 'chat', message, ...others })
const question = () => model.questions().at(-1)
const messagesOf = (role: string) => question()?.messages.filter(message => message.role === role) ?? []

interface Conversations {
  conversations: { id: string }[]
}
const conversations = async () =>
  (await stage.app.call<Conversations>('GET', `${agent.path}/chat/conversations`)).body.conversations

/** Begins a conversation; its id. */
async function converse(content: string): Promise<string> {
  const answer = await stage.app.call<{ userMessage: { conversationId: string } }>(
    'POST',
    `${agent.path}/chat`,
    { body: { content } },
  )
  return answer.body.userMessage.conversationId
}

describe('a question without a conversation', () => {
  it('is answered, and nothing of it is stored', async () => {
    const before = await conversations()
    const { status, output } = await agent.runNode(
      chat('Summarise {{text}}', { system_prompt: 'Be brief about {{topic}}.' }),
      { text: 'the news', topic: 'all' },
    )
    expect({ status, output }).toEqual({
      status: 'complete',
      output: { content: usualAnswer, model: 'fake-model', tool_calls: [] },
    })
    expect(messagesOf('user').at(-1)?.content).toBe('Summarise the news')
    expect(String(messagesOf('system')[0]?.content)).toContain('Be brief about all.')
    expect(await conversations()).toEqual(before)
  })

  it('in a form has its value in the output, and fails without it', async () => {
    const schema = { type: 'object', required: ['total'], properties: { total: { type: 'number' } } }
    const response_format = { type: 'json_schema', json_schema: { name: 'sum', schema } }
    model.next({ stream: openaiText('```json\n{"total": 7}\n```') })
    expect((await agent.runNode(chat('Add', { response_format }), {})).output).toEqual({
      content: '{"total": 7}',
      output: { total: 7 },
      model: 'fake-model',
      tool_calls: [],
    })
    model.next({ stream: openaiText('Seven') }, { stream: openaiText('7') })
    const failed = await agent.runNode(chat('Add', { response_format }), {})
    expect(JSON.stringify(failed)).toContain('no answer that fits response_format')
  })

  it('that holds text of others is answered without SQL', async () => {
    const offered = () => question()?.tools?.map(tool => tool.function.name)
    await agent.runNode(chat('Summarise the contacts'), {})
    expect(offered()).toContain('execute_sql')
    await agent.runNode(chat('Summarise {{text}}'), { text: 'the contacts' })
    expect(offered()).toContain('search_knowledge')
    expect(offered()).not.toContain('execute_sql')
  })

  it('may use tools, or none', async () => {
    model.next(
      { stream: openaiToolCall('search_knowledge', { query: 'news' }) },
      { stream: openaiText('Found nothing.') },
    )
    const { output } = await agent.runNode(chat('Search'))
    expect(output).toEqual({
      content: 'Found nothing.',
      model: 'fake-model',
      tool_calls: [{ name: 'search_knowledge', arguments: { query: 'news' } }],
    })
    await agent.runNode(chat('Do not search', { tools: false }))
    expect(question()?.tools).toBeUndefined()
  })

  it('names its model', async () => {
    const { output } = await agent.runNode(chat('Hello', { model: 'openai-compatible/other-model' }))
    expect(output).toMatchObject({ content: usualAnswer })
    expect(question()?.model).toBe('other-model')
  })

  it('ends as an error if the model fails, or if there is no question', async () => {
    model.next(refusal(401, 'no'))
    expect(await agent.runNode(chat('Hello'))).toMatchObject({ status: 'errored', error: expect.any(String) })
    expect(await agent.runNode(chat('{{gone}}'))).toMatchObject({
      status: 'errored',
      error: 'message: is empty',
      warnings: ['{{gone}} is empty'],
    })
  })
})

describe('foreign text', () => {
  it.each([
    ['none', 'Call it for {{execution.id}}', true],
    ['a template in the message', 'Call it for {{name}}', false],
    ['an output', 'Call it for {{nodes.start.name}}', false],
  ])('%s: a tool that needs approval is called: %s', async (_, message, isCalled) => {
    const tool = {
      name: 'order',
      type: 'http',
      configuration: { url: `${stage.server.url}/order`, method: 'POST' },
      requiresApproval: true,
    }
    const own = await stage.newAgent()
    await stage.app.call('POST', `${own.path}/tools`, { body: tool })
    model.next({ stream: openaiToolCall('order', {}) })
    const before = stage.server.requests.length
    const ended = await own.runNode(chat(message), { name: 'Ada' })
    expect(stage.server.requests.length - before).toBe(isCalled ? 1 : 0)
    expect(ended).toMatchObject(
      isCalled
        ? { status: 'complete', output: { tool_calls: [{ name: 'order' }] } }
        : { status: 'errored', error: expect.stringMatching(/order needs the approval.*conversation_id/) },
    )
  })
})

describe('a question in a conversation', () => {
  it('is part of it', async () => {
    const conversation_id = await converse('My name is Ada')
    const { output } = await agent.runNode(chat('And {{what}}?', { conversation_id: '{{id}}' }), {
      what: 'now',
      id: conversation_id,
    })
    expect(output).toMatchObject({ content: usualAnswer })
    expect(messagesOf('user').map(({ content }) => content)).toEqual(['My name is Ada', 'And now?'])
    const path = `${agent.path}/chat?conversationId=${conversation_id}`
    const { body } = await stage.app.call<{ messages: { content: string; metadata?: object }[] }>('GET', path)
    expect(body.messages.map(({ content }) => content)).toEqual([
      'My name is Ada',
      usualAnswer,
      'And now?',
      usualAnswer,
    ])
    expect(body.messages[2]).toMatchObject({
      metadata: { tainted: true },
      created_by: expect.stringMatching(/^workflow:./),
    })
  })

  it('waits while the conversation is locked', async () => {
    const conversationId = await converse('Hello')
    const held = heldStream(['I am '], ['thinking.'])
    model.next(held.reply)
    const asking = stage.app.call('POST', `${agent.path}/chat`, {
      body: { content: 'Think', conversationId },
    })
    await held.begun
    const id = await agent.begin(chat('Next', { conversation_id: conversationId }))
    await expect
      .poll(async () => (await agent.get(id)).body.node_results)
      .toContainEqual(expect.objectContaining({ node_id: 'node', status: 'running' }))
    expect(messagesOf('user').at(-1)?.content).toBe('Think')
    held.open()
    await asking
    const { status } = await agent.reached(id, 'complete', 'errored')
    expect(status).toBe('complete')
    expect(messagesOf('user').at(-1)?.content).toBe('Next')
  })

  it('goes on with a call that is approved while other nodes run', async () => {
    const own = await stage.newAgent()
    const configuration = { url: `${stage.server.url}/order`, method: 'POST' }
    const tool = { name: 'order', type: 'http', configuration, requiresApproval: 'always' }
    await stage.app.call('POST', `${own.path}/tools`, { body: tool })
    const { body: conversation } = await stage.app.call<{ id: string }>(
      'POST',
      `${own.path}/chat/conversations`,
      { body: { title: 'T' } },
    )
    const slow = Promise.withResolvers<Reply>()
    stage.replyWith(({ path }) => (path === '/slow' ? slow.promise : { json: { ok: true } }))
    model.next({ stream: openaiToolCall('order', {}) })
    const nodes = {
      start: { type: 'trigger' },
      node: chat('Order it', { conversation_id: conversation.id }),
      slow: { type: 'http-request', url: `${stage.server.url}/slow`, timeout_seconds: 120 },
    }
    const workflow_id = await own.create(nodes, ['start > node', 'start > slow'])
    const { execution_id } = (await own.execute({ workflow_id })).body
    const statusOf = async () => {
      const { node_results } = (await own.get(execution_id)).body
      return Object.fromEntries(node_results.map(({ node_id, status }) => [node_id, status]))
    }
    await expect.poll(statusOf).toMatchObject({ node: 'waiting', slow: 'running' })
    const approvals = `${own.path}/chat/approvals`
    const { body } = await stage.app.call<{ approvals: { toolCallId: string }[] }>('GET', approvals)
    await stage.app.call('POST', `${approvals}/${body.approvals[0]?.toolCallId}`, {
      body: { approved: true },
    })
    await expect.poll(statusOf).toMatchObject({ node: 'complete', slow: 'running' })
    slow.resolve({ json: {} })
    expect((await own.reached(execution_id, 'complete', 'errored')).status).toBe('complete')
  })

  it('that is not there is an error', async () => {
    expect(await agent.runNode(chat('Hello', { conversation_id: 'gone' }))).toMatchObject({
      status: 'errored',
      error: 'Conversation not found',
    })
  })
})

it.each([true, false])(
  'terminating an execution ends its turn (in a conversation: %s)',
  async isInConversation => {
    const conversation_id = isInConversation ? await converse('Hello') : undefined
    const held = heldStream(['I am '])
    model.next(held.reply)
    const id = await agent.begin(chat('Think', { conversation_id }))
    await held.begun
    expect(await agent.terminate(id)).toMatchObject({ status: 200 })
    await held.ended
    expect((await agent.get(id)).body.status).toBe('terminated')
  },
)

it('is refused when it is saved with unknown or ill-typed fields', async () => {
  for (const data of [{ temperature: 1 }, { tools: 'some' }, { model: 7 }])
    expect((await agent.save(chat('Hello', data), 'draft')).status).toBe(400)
  expect((await agent.save({ type: 'chat' })).status).toBe(400)
})
