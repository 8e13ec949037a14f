import { describe, expect, it } from 'vitest'
import { buildApp } from '#test/support/build-app.ts'
import { heldStream, usualAnswer } from '#test/support/chat-model.ts'
import { type ChatStage, type MessageList, setChatStage } from '#test/support/chat-stage.ts'
import { eventually } from '#test/support/eventually.ts'
import { openaiToolCall, type Reply } from '#test/support/model-server.ts'
import { openStream } from '#test/support/open-stream.ts'
import { makeTemporaryDirectory } from '#test/support/temporary-directory.ts'

const path = '/api/agents/default/chat'
const shuttingDown = { type: 'error', message: expect.any(String), code: 'SHUTTING_DOWN' }
/** The end of the service is promised within this time, in milliseconds. */
const promised = 10_000

/** What the next start finds. */
async function storedIn(dataDirectory: string): Promise<MessageList['messages']> {
  const app = await buildApp({ dataDirectory })
  const { body } = await app.call<MessageList>('GET', path)
  const { status } = await app.call('DELETE', path)
  await app.close()
  expect(status, 'nothing is locked').toBe(200)
  return body.messages
}

async function timed(work: Promise<void>): Promise<number> {
  const begun = performance.now()
  await work
  return performance.now() - begun
}

// Each waits for the grace of running answers, so they wait side by side.
describe.concurrent('the end of the service while an answer is given', () => {
  async function setStage(dataDirectory: string): Promise<{ stage: ChatStage; url: string }> {
    const stage = await setChatStage({ dataDirectory })
    return { stage, url: await stage.app.listen() }
  }

  it('lets an answer finish that finishes in time, and waits for no client that keeps its connection', async () => {
    const { path: dataDirectory, remove } = makeTemporaryDirectory()
    const { stage, url } = await setStage(dataDirectory)
    const held = heldStream(['Half'], [' and half'])
    stage.model.next(held.reply)
    const answer = await openStream(`${url}${path}`, { content: 'Hello' })
    await answer.until('content_delta')
    const beside = makeTemporaryDirectory()
    const other = await setStage(beside.path)
    const endless = heldStream(['Endless'])
    other.stage.model.next(endless.reply)
    const unanswered = other.stage.send(path, { content: 'Hello' })
    await endless.begun
    let isGraceOver = false
    const closingAfterGrace = other.stage.app.service.close().then(() => {
      isGraceOver = true
    })
    const closing = stage.app.service.close()
    await expect(fetch(`${url}/healthz`)).rejects.toThrow()
    held.open()
    const events = await answer.rest()
    expect(events.map(({ type }) => type)).toEqual(['content_delta', 'message_complete'])
    await closing
    expect(isGraceOver, 'an answer that does not end would be given more time').toBe(false)
    await Promise.all([closingAfterGrace, unanswered, endless.ended])
    await other.stage[Symbol.asyncDispose]()
    beside.remove()
    await stage[Symbol.asyncDispose]()
    const [, given] = await storedIn(dataDirectory)
    expect(given?.content).toBe('Half and half')
    expect(given?.metadata).not.toHaveProperty('aborted')
    remove()
  })

  it('ends one that does not with an error, in both forms, and keeps what was said', async () => {
    const { path: dataDirectory, remove } = makeTemporaryDirectory()
    const { stage, url } = await setStage(dataDirectory)
    const [streamed, whole] = [heldStream(['Streamed']), heldStream(['Whole'])]
    stage.model.next(streamed.reply)
    const answer = await openStream(`${url}${path}`, { content: 'Hello' }, { connection: 'close' })
    await answer.until('content_delta')
    stage.model.next(whole.reply)
    const sent = stage.send(path, { content: 'Hello' })
    await whole.begun
    const closing = timed(stage.app.service.close())
    expect(await answer.rest()).toEqual([shuttingDown])
    expect(await sent).toMatchObject({ status: 500, body: { code: 'SHUTTING_DOWN' } })
    expect(await closing).toBeLessThan(promised)
    await Promise.all([streamed.ended, whole.ended])
    await stage[Symbol.asyncDispose]()
    const stored = await storedIn(dataDirectory)
    expect(stored.filter(({ role }) => role === 'assistant')).toMatchObject([
      { content: 'Streamed', metadata: { aborted: true } },
      { content: 'Whole', metadata: { aborted: true } },
    ])
    remove()
  })

  it.each<[string, 'always' | false]>([
    ['has begun it', false],
    ['goes on with it after an approval', 'always'],
  ])('lets a schedule that %s repeat it after the next start', async (_, requiresApproval) => {
    const { path: dataDirectory, remove } = makeTemporaryDirectory()
    const { stage } = await setStage(dataDirectory)
    const agent = path.replace('/chat', '')
    const configuration = { code: 'return 1' }
    const tool = { name: 'look', description: 'd', type: 'javascript', requiresApproval, configuration }
    await stage.app.call('POST', `${agent}/tools`, { body: tool })
    const held = heldStream(['Half'])
    stage.model.next({ stream: openaiToolCall('look', {}) }, held.reply)
    const { body } = await stage.app.call<{ id: string }>('POST', `${agent}/schedules`, {
      body: {
        name: 'S',
        type: 'delayed',
        delay_seconds: 1,
        callback_type: 'chat',
        callback_data: { content: 'Look' },
      },
    })
    if (requiresApproval)
      await eventually(async () => {
        const pending = await stage.app.call<{ approvals: { toolCallId: string }[] }>(
          'GET',
          `${path}/approvals`,
        )
        const { toolCallId } = pending.body.approvals[0] ?? {}
        const decided = await stage.app.call('POST', `${path}/approvals/${toolCallId}`, { body: {} })
        expect(decided).toMatchObject({ status: 200 })
      })
    await held.begun
    await stage.app.service.close()
    await stage[Symbol.asyncDispose]()
    const { stage: next } = await setStage(dataDirectory)
    await eventually(async () => {
      const schedule = await next.app.call('GET', `${agent}/schedules/${body.id}`)
      expect(schedule.body).toMatchObject({ executions: [{ status: 'success' }] })
    })
    expect((await next.messages(path)).at(-1)).toMatchObject({ role: 'assistant', content: usualAnswer })
    await next[Symbol.asyncDispose]()
    remove()
  })

  it('ends one as well whose question was accepted only after the end had begun', async () => {
    const { path: dataDirectory, remove } = makeTemporaryDirectory()
    const { stage, url } = await setStage(dataDirectory)
    const [asked, listed] = [Promise.withResolvers<void>(), Promise.withResolvers<Reply>()]
    stage.model.list(() => {
      asked.resolve()
      return listed.promise
    })
    const held = heldStream(['Late'])
    stage.model.next(held.reply)
    const opening = openStream(`${url}${path}`, { content: 'Hello' }, { connection: 'close' })
    await asked.promise
    const closing = timed(stage.app.service.close())
    listed.resolve({ json: { data: [{ id: 'fake-model' }] } })
    const events = await (await opening).rest()
    expect(events.at(-1)).toEqual(shuttingDown)
    expect(await closing).toBeLessThan(promised)
    await stage[Symbol.asyncDispose]()
    expect(await storedIn(dataDirectory)).toMatchObject([{ role: 'user' }, { content: 'Late' }])
    remove()
  })
})
