/** Messages that come while a turn of their conversation waits for a person. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ChannelAgent, type ChannelStage, setChannelStage } from '#test/support/channel-stage.ts'
import { openaiToolCall } from '#test/support/model-server.ts'

const second = 1_000
const minute = 60 * second
const chat = 77
let stage: ChannelStage
let agent: ChannelAgent

beforeAll(async () => {
  stage = await setChannelStage()
})

afterAll(() => stage[Symbol.asyncDispose]())

beforeEach(async () => {
  agent = await stage.newAgent({ channel_senders: 'everyone' })
})

describe.each([
  ['a message', 'channel.answer'],
  ['the run of a schedule', 'schedule.chat'],
])('%s', (_what, job) => {
  async function begin(): Promise<{ conversationId: string; again(): Promise<unknown> }> {
    if (job === 'channel.answer') {
      await agent.telegram({ chat, text: 'Hello' })
      await stage.pass(2 * second)
      const [conversation] = await agent.conversations('telegram')
      const again = () => agent.telegram({ chat, text: 'Still there?' }).then(() => stage.pass(2 * second))
      return { conversationId: conversation?.id ?? '', again }
    }
    const callback = { callback_type: 'chat', callback_data: { content: 'What is new?' } }
    const schedule = { name: 'S', type: 'delayed', delay_seconds: 1, ...callback }
    const { body } = await stage.app.call<{ id: string }>('POST', `${agent.path}/schedules`, {
      body: schedule,
    })
    await stage.pass(second)
    const run = () => stage.app.call('POST', `${agent.path}/schedules/${body.id}/run`)
    return { conversationId: body.id, again: () => run().then(() => stage.pass(2 * second)) }
  }

  it('behind a turn that waits for a person is tried ever more seldom, up to once a minute', async () => {
    const configuration = { code: 'return 1' }
    const tool = { name: 'look', description: 'd', type: 'javascript', requiresApproval: 'always' }
    await stage.app.call('POST', `${agent.path}/tools`, { body: { ...tool, configuration } })
    const { conversationId, again } = await begin()
    stage.model.next({ stream: openaiToolCall('look', {}) })
    const body = { content: 'Look', conversationId, autoRag: false, background: true }
    expect(await stage.app.call('POST', `${agent.path}/chat`, { body })).toMatchObject({ status: 200 })
    await stage.pass(0)
    await again()
    const pause = async (milliseconds: number) => {
      await stage.pass(milliseconds)
      const due = await stage.app.service.infrastructure.agentDatabases.use(agent.id, ({ db }) =>
        db.selectFrom('outbox').select('run_at').where('name', '=', job).executeTakeFirstOrThrow(),
      )
      return Math.floor((Date.parse(due.run_at) - stage.clock.now()) / 100)
    }
    expect([await pause(0), await pause(8 * second), await pause(60 * minute)]).toEqual([10, 25, 600])
    const approvals = `${agent.path}/chat/approvals`
    const { body: list } = await stage.app.call<{ approvals: { toolCallId: string }[] }>('GET', approvals)
    await stage.app.call('POST', `${approvals}/${list.approvals[0]?.toolCallId}`, {
      body: { approved: false },
    })
    await stage.pass(second)
    await stage.pass(minute)
    const messages = await agent.messages(conversationId)
    expect(messages.map(({ role }) => role)).toEqual(Array(3).fill(['user', 'assistant']).flat())
  })
})
