import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { streamEvent } from '#test/spec/row.ts'
import { heldStream } from '#test/support/chat-model.ts'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import { eventually } from '#test/support/eventually.ts'
import { type ModelServer, openaiText, openaiToolCall, startModelServer } from '#test/support/model-server.ts'
import { type OpenStream, openStream } from '#test/support/open-stream.ts'

let stage: ChatStage
let outside: ModelServer
let url: string
/** Of requests to the outside that were begun and not ended. */
let open = 0

beforeAll(async () => {
  stage = await setChatStage({ environment: { OUTBOUND_ALLOW: '127.0.0.1' } })
  url = await stage.app.listen()
  outside = await startModelServer(() => {
    const held = heldStream(['data'])
    open += 1
    void held.ended.then(() => {
      open -= 1
    })
    return held.reply
  })
})

afterAll(async () => {
  await stage[Symbol.asyncDispose]()
  await outside[Symbol.asyncDispose]()
})

const stop = (path: string, turnId: unknown) => stage.app.call('POST', `${path}/turns/${turnId}/stop`)

async function begin(path: string): Promise<{ answer: OpenStream; turnId: string; conversationId: string }> {
  const answer = await openStream(`${url}${path}`, { content: 'Go', autoRag: false })
  const [start] = await answer.until('message_start')
  return { answer, turnId: String(start?.turnId), conversationId: String(start?.conversationId) }
}

async function current(path: string, conversationId: string): Promise<unknown> {
  return (await stage.app.call('GET', `${path}/conversations/${conversationId}/turn`)).body
}

/** A call whose server has its request. */
const calling = {
  shown: 'tool_call',
  begun: () => eventually(() => expect(open).toBeGreaterThan(0)),
  ended: () => eventually(() => expect(open).toBe(0)),
}

interface Work {
  /** Event by which it is seen. */
  shown: string
  begun(): Promise<void>
  ended(): Promise<void>
  /** Of the answer that is kept. */
  content: string
}

/** What a turn is at work on, and how that begins. */
const works = {
  'a model that speaks': async () => {
    const held = heldStream(['Half'])
    stage.model.next(held.reply)
    return { shown: 'content_delta', begun: () => held.begun, ended: () => held.ended, content: 'Half' }
  },
  'a model that has said nothing': async () => {
    const held = heldStream([])
    stage.model.next(held.reply)
    return { shown: 'thinking', begun: () => held.begun, ended: () => held.ended, content: '' }
  },
  'a tool whose server hangs': async (agent: string) => {
    await stage.app.call('POST', `${agent}/tools`, {
      body: {
        name: 'hang',
        description: 'd',
        type: 'http',
        configuration: { method: 'GET', url: outside.url },
      },
    })
    stage.model.next({ stream: openaiToolCall('hang', {}) })
    return { ...calling, content: '' }
  },
  'code that loops': async (agent: string) => {
    await stage.app.call('POST', `${agent}/tools`, {
      body: { name: 'loop', description: 'd', type: 'javascript', configuration: { code: 'for (;;) {}' } },
    })
    stage.model.next({ stream: openaiToolCall('loop', {}) })
    return { ...calling, begun: async () => {}, content: '' }
  },
  'code that waits for a server': async (agent: string) => {
    const code = `return (await fetch('${outside.url}')).text()`
    await stage.app.call('POST', `${agent}/tools`, {
      body: { name: 'fetching', description: 'd', type: 'javascript', configuration: { code } },
    })
    stage.model.next({ stream: openaiToolCall('fetching', {}) })
    return { ...calling, content: '' }
  },
  'a page that hangs': async () => {
    stage.model.next({ stream: openaiToolCall('browse_url', { url: outside.url }) })
    return { ...calling, content: '' }
  },
} satisfies Record<string, (agent: string) => Promise<Work>>

describe(`a turn that is stopped ${streamEvent('message_start')}`, () => {
  it.each(Object.entries(works))(
    'ends within %s, keeps what was said, and frees the conversation',
    async (_, work) => {
      const path = await stage.makeChat()
      const { shown, begun, ended, content } = await work(path.replace('/chat', ''))
      const { answer, turnId, conversationId } = await begin(path)
      await answer.until(shown)
      await begun()
      expect(await current(path, conversationId)).toEqual({
        turn: { id: turnId, status: 'running', since: expect.any(String), started_by: expect.any(String) },
      })
      expect(await stop(path, turnId)).toMatchObject({ status: 200, body: { id: turnId, status: 'stopped' } })
      expect((await answer.rest()).at(-1)).toMatchObject({
        type: 'message_complete',
        assistantMessageId: turnId,
      })
      await ended()
      const kept = (await stage.messages(path)).at(-1)
      expect(kept).toMatchObject({ id: turnId, role: 'assistant', content, metadata: { stopped: true } })
      expect(kept?.metadata).not.toHaveProperty('aborted')
      expect(await current(path, conversationId)).toEqual({ turn: null })
      expect(await stop(path, turnId)).toMatchObject({ status: 200, body: { status: 'stopped' } })
      expect((await stage.send(path, { content: 'Next', conversationId })).status).toBe(200)
    },
  )

  it('answers in one piece with what was said', async () => {
    const path = await stage.makeChat()
    const held = heldStream(['Half'])
    stage.model.next(held.reply)
    const { body: conversation } = await stage.app.call<{ id: string }>('POST', `${path}/conversations`, {
      body: { title: 'T' },
    })
    const sent = stage.send(path, { content: 'Go', conversationId: conversation.id })
    await eventually(async () =>
      expect((await stage.messages(path)).at(-1)).toMatchObject({ content: 'Half' }),
    )
    const { turn } = (await current(path, conversation.id)) as { turn: { id: string } }
    await stop(path, turn.id)
    expect(await sent).toMatchObject({
      status: 200,
      body: { assistantMessage: { id: turn.id, content: 'Half', metadata: { stopped: true } } },
    })
  })

  it('may be one that answers anew, and one that has ended stays as it is', async () => {
    const path = await stage.makeChat()
    const { body } = await stage.send(path, { content: 'Hello' })
    const { id, conversationId } = body.assistantMessage
    expect((await stop(path, id)).body).toEqual({ id, status: 'ended' })
    stage.model.next(heldStream(['Again']).reply)
    const answer = await openStream(`${url}${path}/messages/${id}/regenerate`, {})
    const [start] = await answer.until('message_start')
    await answer.until('content_delta')
    expect((await stop(path, start?.turnId)).body).toMatchObject({ status: 'stopped' })
    expect((await stage.messages(path, conversationId)).map(({ content }) => content)).toEqual([
      'Hello',
      'Again',
    ])
  })

  it('is none of another agent, of another kind, or that never was', async () => {
    const [path, other] = [await stage.makeChat(), await stage.makeChat()]
    const { body } = await stage.send(path, { content: 'Hello' })
    const { id, conversationId } = body.assistantMessage
    for (const [at, turnId] of [
      [other, id],
      [path, body.userMessage.id],
      [path, 'none'],
    ])
      expect(await stop(at ?? '', turnId)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
    for (const [at, conversation] of [
      [other, conversationId],
      [path, 'none'],
    ])
      expect(await stage.app.call('GET', `${at}/conversations/${conversation}/turn`)).toMatchObject({
        status: 404,
      })
  })
})

describe('a turn that nobody waits for', () => {
  it('of a schedule is stopped as well, and is no success', async () => {
    const path = await stage.makeChat()
    const agent = path.replace('/chat', '')
    const held = heldStream(['Half'])
    stage.model.next(held.reply, { stream: openaiText('Never said.') })
    const { body } = await stage.app.call<{ id: string }>('POST', `${agent}/schedules`, {
      body: {
        name: 'S',
        type: 'delayed',
        delay_seconds: 1,
        callback_type: 'chat',
        callback_data: { content: 'Report' },
      },
    })
    await held.begun
    const { turn } = (await current(path, body.id)) as { turn: { id: string; started_by: string } }
    expect(turn.started_by).toBe(`schedule:${body.id}`)
    expect((await stop(path, turn.id)).body).toMatchObject({ status: 'stopped' })
    await eventually(async () => {
      const { body: schedule } = await stage.app.call('GET', `${agent}/schedules/${body.id}`)
      expect(schedule).toMatchObject({
        executions: [{ status: 'error', error: expect.stringContaining('stopped') }],
      })
    })
    expect((await stage.messages(path, body.id)).at(-1)).toMatchObject({ metadata: { stopped: true } })
  })
})
