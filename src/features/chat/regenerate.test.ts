import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorRow, row } from '#test/spec/row.ts'
import type { Answer } from '#test/support/build-app.ts'
import { heldStream, refusal } from '#test/support/chat-model.ts'
import { type ChatStage, setChatStage, type TurnBody } from '#test/support/chat-stage.ts'
import { openaiText, openaiToolCall } from '#test/support/model-server.ts'

let stage: ChatStage
let app: ChatStage['app']
let model: ChatStage['model']

beforeAll(async () => {
  stage = await setChatStage()
  ;({ app, model } = stage)
})

afterAll(() => stage[Symbol.asyncDispose]())

function regenerate(path: string, messageId: string, body: object = {}): Promise<Answer<TurnBody>> {
  return app.call('POST', `${path}/messages/${messageId}/regenerate`, { body })
}

/** A conversation of three questions and their answers, "answer 1" to "answer 3". */
async function talk(path: string): Promise<TurnBody[]> {
  const turns: TurnBody[] = []
  for (const number of [1, 2, 3]) {
    model.next({ stream: openaiText(`answer ${number}`) })
    const conversationId = turns[0]?.userMessage.conversationId
    turns.push((await stage.send(path, { content: `question ${number}`, conversationId })).body)
  }
  return turns
}

const contentsOf = async (path: string) => (await stage.messages(path)).map(({ content }) => content)

describe(`answering anew ${row('POST /api/agents/{id}/chat/messages/{messageId}/regenerate')}`, () => {
  it.each(['userMessage', 'assistantMessage'] as const)(
    'given the %s replaces the answer and all that followed',
    async which => {
      const path = await stage.makeChat()
      const turns = await talk(path)
      model.next({ stream: openaiText('another answer') })
      const { status, body } = await regenerate(path, turns[1]?.[which].id ?? '')
      expect(status).toBe(200)
      expect(body.userMessage).toEqual(turns[1]?.userMessage)
      expect(body.assistantMessage).toMatchObject({
        role: 'assistant',
        content: 'another answer',
        conversationId: turns[1]?.userMessage.conversationId,
        metadata: { model: 'fake-model' },
      })
      expect(body.assistantMessage.id).not.toBe(turns[1]?.assistantMessage.id)
      expect(await stage.messages(path)).toEqual([
        turns[0]?.userMessage,
        turns[0]?.assistantMessage,
        body.userMessage,
        body.assistantMessage,
      ])
      const { body: list } = await app.call('GET', `${path}/conversations`)
      expect(list).toMatchObject({ conversations: [{ messageCount: 4 }] })
    },
  )

  it('tells the model what came before the question, and nothing of what came after', async () => {
    const path = await stage.makeChat()
    const turns = await talk(path)
    await regenerate(path, turns[1]?.assistantMessage.id ?? '')
    expect(model.questions().at(-1)?.messages.slice(1)).toEqual([
      { role: 'user', content: 'question 1' },
      { role: 'assistant', content: 'answer 1' },
      { role: 'user', content: 'question 2' },
    ])
  })

  it('leaves other conversations alone', async () => {
    const path = await stage.makeChat()
    const [first] = await talk(path)
    await talk(path)
    await regenerate(path, first?.userMessage.id ?? '')
    expect(await stage.messages(path)).toHaveLength(2 + 6)
  })

  it('answers a question that never got an answer', async () => {
    const path = await stage.makeChat()
    model.next(refusal(401, 'no'))
    await stage.send(path, { content: 'question 1' })
    const [question] = await stage.messages(path)
    model.next({ stream: openaiText('at last') })
    expect((await regenerate(path, question?.id ?? '')).status).toBe(200)
    expect(await contentsOf(path)).toEqual(['question 1', 'at last'])
  })

  it('takes another model, and leaves tools out when told to', async () => {
    const path = await stage.makeChat()
    const [turn] = await talk(path)
    const { body } = await regenerate(path, turn?.userMessage.id ?? '', {
      model: 'other-model',
      enableTools: false,
    })
    expect(body.assistantMessage.metadata?.model).toBe('other-model')
    expect(model.questions().at(-1)).toMatchObject({ model: 'other-model' })
    expect(model.questions().at(-1)).not.toHaveProperty('tools')
  })

  it('keeps the calls of the new answer in place of those of the old one', async () => {
    const path = await stage.makeChat()
    model.next({ stream: openaiToolCall('search_knowledge', { query: 'old' }) })
    const { body: old } = await stage.send(path, { content: 'question 1' })
    model.next({ stream: openaiToolCall('search_knowledge', { query: 'new' }) })
    const { body } = await regenerate(path, old.assistantMessage.id)
    expect(body.assistantMessage.toolCalls).toMatchObject([{ arguments: { query: 'new' } }])
    expect((await stage.messages(path))[1]).toEqual(body.assistantMessage)
  })

  it('can be repeated', async () => {
    const path = await stage.makeChat()
    const [turn] = await talk(path)
    let id = turn?.assistantMessage.id ?? ''
    for (const content of ['second try', 'third try']) {
      model.next({ stream: openaiText(content) })
      id = (await regenerate(path, id)).body.assistantMessage.id
    }
    expect(await contentsOf(path)).toEqual(['question 1', 'third try'])
  })
})

describe('while the new answer is not there', () => {
  it.each<[how: string, status: number, code: string, body: object]>([
    ['the model service fails', 500, 'MODEL_ERROR', {}],
    ['there is no such model', 400, 'MODEL_UNKNOWN', { model: 'builtin/other' }],
    ['the body is wrong', 400, 'VALIDATION_ERROR', { enableTools: 'yes' }],
  ])('the old one stays: %s', async (_how, status, code, options) => {
    const path = await stage.makeChat()
    const turns = await talk(path)
    if (code === 'MODEL_ERROR') model.next(refusal(401, 'no'))
    expect(await regenerate(path, turns[0]?.assistantMessage.id ?? '', options)).toMatchObject({
      status,
      body: { error: expect.any(String), code },
    })
    expect(await stage.messages(path)).toHaveLength(6)
    // And the conversation is free.
    model.next({ stream: openaiText('now') })
    expect((await regenerate(path, turns[0]?.assistantMessage.id ?? '')).status).toBe(200)
    expect(await contentsOf(path)).toEqual(['question 1', 'now'])
  })

  it(`the conversation is locked ${errorRow('chat', 409)}`, async () => {
    const path = await stage.makeChat()
    const turns = await talk(path)
    const held = heldStream([], ['Done'])
    model.next(held.reply)
    const id = turns[2]?.assistantMessage.id ?? ''
    const running = regenerate(path, id)
    await held.begun
    const locked = { status: 409, body: { code: 'CONVERSATION_LOCKED' } }
    expect(await regenerate(path, id)).toMatchObject(locked)
    const { conversationId } = turns[0]?.userMessage ?? {}
    expect(await stage.send(path, { content: 'Hi', conversationId })).toMatchObject(locked)
    expect((await stage.messages(path)).map(({ content }) => content)).toContain('answer 3')
    held.open()
    expect((await running).status).toBe(200)
  })
})

describe('what can’t be answered anew', () => {
  it(`is 404: an unknown message, and one of another agent ${errorRow('chat', 404)}`, async () => {
    const [path, other] = [await stage.makeChat(), await stage.makeChat()]
    const turns = await talk(path)
    const missing = { status: 404, body: { error: 'Message not found', code: 'NOT_FOUND' } }
    expect(await regenerate(path, 'nothing-here')).toMatchObject(missing)
    expect(await regenerate(other, turns[0]?.userMessage.id ?? '')).toMatchObject(missing)
    expect(await stage.messages(path)).toHaveLength(6)
  })

  it.each([0, 1])('is 409: an answer whose question was deleted, %d exchanges after the first', async at => {
    const path = await stage.makeChat()
    const turn = (await talk(path))[at]
    await app.call('DELETE', `${path}/messages/${turn?.userMessage.id}`)
    expect(await regenerate(path, turn?.assistantMessage.id ?? '')).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('nothing to answer'), code: 'CONFLICT' },
    })
    expect(await stage.messages(path)).toHaveLength(5)
    // The refusal left no lock behind.
    const conversationId = turn?.userMessage.conversationId
    expect((await stage.send(path, { content: 'Hi', conversationId })).status).toBe(200)
  })

  it('is 409: an answer whose question was deleted, behind a question that has no answer', async () => {
    const path = await stage.makeChat()
    model.next(refusal(401, 'no'))
    expect((await stage.send(path, { content: 'unanswered' })).status).toBe(500)
    const [unanswered] = await stage.messages(path)
    model.next({ stream: openaiText('answer') })
    const { conversationId } = unanswered ?? {}
    const { body } = await stage.send(path, { content: 'answered', conversationId })
    const { userMessage, assistantMessage } = body
    await app.call('DELETE', `${path}/messages/${userMessage.id}`)
    expect(await regenerate(path, assistantMessage.id)).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('nothing to answer'), code: 'CONFLICT' },
    })
    expect(await stage.messages(path)).toMatchObject([
      { content: 'unanswered' },
      { content: 'answer', metadata: { model: expect.any(String), questionDeleted: true } },
    ])
  })

  it('is 409: any message of an agent that is paused', async () => {
    const path = await stage.makeChat()
    const [turn] = await talk(path)
    await app.call('PUT', path.replace('/chat', ''), { body: { status: 'disabled' } })
    expect(await regenerate(path, turn?.userMessage.id ?? '')).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT' },
    })
  })
})
