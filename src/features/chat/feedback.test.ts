/** What people think of answers, and the titles that they and models give to conversations. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { heldStream, refusal } from '#test/support/chat-model.ts'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import { eventually } from '#test/support/eventually.ts'
import { openaiText } from '#test/support/model-server.ts'
import { startWebhookReceiver } from '#test/support/webhook-receiver.ts'
import type { ChatMessage, Conversation } from './chat.schema.ts'

let stage: ChatStage

beforeAll(async () => {
  stage = await setChatStage({ environment: { OUTBOUND_ALLOW: '127.0.0.1' } })
})

afterAll(() => stage[Symbol.asyncDispose]())

const put = (path: string, body: object) =>
  stage.app.call<ChatMessage & { error: string; code: string }>('PUT', path, { body })

async function asked(settings?: object) {
  const path = await stage.makeChat(settings)
  const { body } = await stage.send(path, { content: 'How high is the tide?' })
  return { path, ...body }
}

describe('feedback', () => {
  it('stands at its answer with its author and time, is filtered by, replaced and withdrawn', async () => {
    const { path, assistantMessage } = await asked()
    const { conversationId, id } = assistantMessage
    const other = (await stage.send(path, { content: 'And now?', conversationId })).body.assistantMessage
    const rate = (id: string, body: object) => put(`${path}/messages/${id}/feedback`, body)
    const feedback = {
      rating: -1,
      comment: 'Wrong',
      created_by: 'person:dev@example.com',
      createdAt: expect.any(String),
    }
    expect(await rate(id, { rating: -1, comment: 'Wrong' })).toMatchObject({
      status: 200,
      body: { ...assistantMessage, feedback },
    })
    expect((await rate(other.id, { rating: 1 })).status).toBe(200)
    const found = async (query: string) =>
      (await stage.app.call<{ messages: ChatMessage[] }>('GET', `${path}?${query}`)).body.messages
    expect((await found('')).map(message => message.feedback?.rating)).toEqual([undefined, -1, undefined, 1])
    expect(await found('rating=-1')).toEqual([{ ...assistantMessage, feedback }])
    expect(await found('rating=-1&rating=1')).toHaveLength(2)
    const { body } = await rate(id, { rating: 1 })
    expect(body.feedback).toEqual({ ...feedback, rating: 1, comment: undefined })
    expect((await rate(id, { rating: null })).body).not.toHaveProperty('feedback')
    expect(await found('rating=-1')).toEqual([])
  })

  it.each<[what: string, body: object, error: RegExp]>([
    ['nothing', {}, /rating/],
    ['0', { rating: 0 }, /rating/],
    ['a text', { rating: '1' }, /rating/],
    ['an empty comment', { rating: 1, comment: '' }, /comment/],
    ['a long comment', { rating: 1, comment: 'x'.repeat(2001) }, /comment/],
    ['a comment without a rating', { rating: null, comment: 'x' }, /comment/],
    ['an author', { rating: 1, created_by: 'x' }, /created_by/],
  ])('refuses %s', async (_what, body, error) => {
    const { path, assistantMessage } = await asked()
    const answer = await put(`${path}/messages/${assistantMessage.id}/feedback`, body)
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(error)])
  })

  it('is for answers that there are', async () => {
    const { path, userMessage } = await asked()
    expect((await put(`${path}/messages/${userMessage.id}/feedback`, { rating: 1 })).status).toBe(400)
    expect((await put(`${path}/messages/none/feedback`, { rating: 1 })).status).toBe(404)
  })

  it('is an event, and does not wait for an answer in the making', async () => {
    const { path, assistantMessage } = await asked()
    const receiver = await startWebhookReceiver()
    try {
      const webhook = { url: receiver.url, events: ['message.feedback'] }
      await stage.app.call('POST', path.replace(/chat$/, 'webhooks'), { body: webhook })
      const held = heldStream(['Well'])
      stage.model.next(held.reply)
      const { conversationId, id } = assistantMessage
      const sent = stage.send(path, { content: 'Hold on', conversationId })
      await held.begun
      expect((await put(`${path}/messages/${id}/feedback`, { rating: 1, comment: 'Yes' })).status).toBe(200)
      expect((await put(`${path}/conversations/${conversationId}`, { title: 'Tides' })).status).toBe(200)
      held.open()
      expect((await sent).status).toBe(200)
      await stage.app.service.infrastructure.runner.idle()
      expect(receiver.received.map(({ body }) => JSON.parse(body))).toMatchObject([
        {
          type: 'message.feedback',
          data: {
            message_id: id,
            conversation_id: conversationId,
            rating: 1,
            created_by: 'person:dev@example.com',
            created_at: expect.any(String),
          },
        },
      ])
      const list = await stage.messages(path, conversationId)
      expect(list.map(({ feedback }) => feedback?.comment)).toEqual([undefined, 'Yes', undefined, undefined])
    } finally {
      await receiver[Symbol.asyncDispose]()
    }
  })
})

describe('title_model', () => {
  const titleOf = async (path: string) => {
    const { body } = await stage.app.call<{ conversations: Conversation[] }>('GET', `${path}/conversations`)
    return body.conversations[0]?.title
  }
  const settled = () => stage.app.service.infrastructure.runner.idle()

  it.each([
    ['"Tides of **today**."\nMore', 'Tides of **today'],
    ['<think>Hm</think>\n# Title: tides', 'Title: tides'],
    ['x'.repeat(300), 'x'.repeat(80)],
  ])('names the conversation after its first answer: %#', async (said, title) => {
    stage.model.next({ stream: openaiText('1 metre.') }, { stream: openaiText(said) })
    const { path, userMessage } = await asked({ title_model: 'small' })
    await eventually(async () => expect(await titleOf(path)).toBe(title))
    expect(stage.model.questions().at(-1)).toMatchObject({ model: 'small', messages: [{}, { role: 'user' }] })
    expect(stage.model.questions().at(-1)).not.toHaveProperty('tools')
    const before = stage.model.questions().length
    await stage.send(path, { content: 'More', conversationId: userMessage.conversationId })
    await settled()
    expect(stage.model.questions()).toHaveLength(before + 1)
  })

  it('leaves the title where it fails, where a person was faster, and where there is one already', async () => {
    const refused = Promise.withResolvers<void>()
    stage.model.next({ stream: openaiText('1 metre.') }, () => {
      refused.resolve()
      return refusal(400, 'no')
    })
    const { path } = await asked({ title_model: 'small' })
    await refused.promise
    expect(await titleOf(path)).toBe('How high is the tide?')

    const held = heldStream(['Model'], ['s title'])
    stage.model.next({ stream: openaiText('1 metre.') }, held.reply)
    const { userMessage } = (await stage.send(path, { content: 'Ebb?' })).body
    await held.begun
    // The answer is there, and its conversation is not locked by the title.
    await put(`${path}/conversations/${userMessage.conversationId}`, { title: 'Mine' })
    held.open()
    await held.ended
    await settled()
    expect(await titleOf(path)).toBe('Mine')

    const made = await stage.app.call<Conversation>('POST', `${path}/conversations`, {
      body: { title: 'Given' },
    })
    const before = stage.model.questions().length
    await stage.send(path, { content: 'Hi', conversationId: made.body.id })
    await settled()
    expect(stage.model.questions()).toHaveLength(before + 1)
  })
})
