/** What agents, keys and people may spend in a month: at most that, however many turns run at once. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { giveRole } from '#test/support/agents.ts'
import { heldStream } from '#test/support/chat-model.ts'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { openaiChunk, wireForm } from '#test/support/model-server.ts'
import type { Usage } from './usage.schema.ts'

let stage: ChatStage
const clock = manualClock('2026-11-30T12:00:00.000Z')

beforeAll(async () => {
  stage = await setChatStage({ clock })
})

afterAll(() => stage[Symbol.asyncDispose]())

/** An answer that its service says has taken a thousand tokens, and a dollar. */
const costly = {
  stream: wireForm('openai', [
    openaiChunk({ content: 'Yes.' }),
    { ...openaiChunk({}, 'stop'), usage: { prompt_tokens: 900, completion_tokens: 100, cost: 1 } },
  ]),
}

const plain = { content: 'Hello', enableTools: false, autoRag: false }

async function totalOf(path: string): Promise<Usage['total']> {
  return (await stage.app.call<Usage>('GET', path.replace(/chat$/, 'usage'))).body.total
}

function tokensOf({ input_tokens, output_tokens, estimated_tokens }: Usage['total']): number {
  return input_tokens + output_tokens + estimated_tokens
}

describe('the budget of an agent', () => {
  it('is refused for a moment while a turn has reserved the rest, whose reservation expires if it never ends', async () => {
    const path = await stage.makeChat({ monthly_tokens: 500 })
    const held = heldStream(['Well'])
    stage.model.next(held.reply)
    const first = stage.send(path, plain)
    await held.begun
    const refused = await stage.app.call<{ error: string }>('POST', path, { body: plain })
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '10' } })
    expect(refused.body.error).toMatch(
      /have reserved the rest of the budget of this agent\. Try again in a moment\./,
    )
    clock.advance(20 * 60_000)
    stage.model.next(costly)
    expect((await stage.send(path, plain)).status).toBe(200)
    held.open()
    expect((await first).status).toBe(200)
  })

  it('is overspent by one turn at most, however many begin at once', async () => {
    const path = await stage.makeChat({ monthly_tokens: 10_000, conversations_max: 300 })
    stage.model.next(...Array.from({ length: 100 }, () => costly))
    const statuses = new Map<number, number>()
    for (let spent = false; !spent; ) {
      const answers = await Promise.all(Array.from({ length: 100 }, () => stage.send(path, plain)))
      for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1)
      spent = answers.every(({ status }) => status === 429)
    }
    expect([...statuses.keys()].sort()).toEqual([200, 429])
    expect(tokensOf(await totalOf(path))).toBeGreaterThanOrEqual(10_000)
    expect(tokensOf(await totalOf(path))).toBeLessThanOrEqual(11_100)
    const refused = await stage.app.call<{ error: string; code: string }>('POST', path, { body: plain })
    expect(refused.body.code).toBe('BUDGET_SPENT')
    expect(refused.body.error).toBe(
      'The budget of this agent for this month is spent. It begins anew on 2026-12-01 (UTC); until then, its admins can raise ' +
        'monthly_tokens or monthly_usd in its settings.',
    )
    expect(refused.headers['retry-after']).toBe(String(12 * 3600 - 20 * 60))
    await stage.app.call('PUT', path.replace(/chat$/, 'settings'), { body: { monthly_tokens: 20_000 } })
    expect((await stage.send(path, plain)).status).toBe(200)
  })

  it('counts what was used before it was set, in money as well', async () => {
    const path = await stage.makeChat({ conversations_max: 300 })
    stage.model.next(costly)
    await stage.send(path, plain)
    const settings = path.replace(/chat$/, 'settings')
    await stage.app.call('PUT', settings, { body: { monthly_usd: '1.00' } })
    expect((await stage.send(path, plain)).status).toBe(429)
    const answer = await stage.app.call<{ settings: object }>('PUT', settings, {
      body: { monthly_usd: '1.000001' },
    })
    expect(answer.body.settings).toMatchObject({ monthly_usd: '1.000001' })
    expect((await stage.send(path, plain)).status).toBe(200)
    for (const wrong of [
      { monthly_usd: '-1' },
      { monthly_usd: 5 },
      { monthly_tokens: 0 },
      { monthly_tokens: 1.5 },
    ])
      expect((await stage.app.call('PUT', settings, { body: wrong })).status).toBe(400)
  })
})

describe('the budgets of keys and people', () => {
  it('end the turns of a key, or of a person with each of their keys, and of no others', async () => {
    const path = await stage.makeChat({ conversations_max: 300 })
    const agent = path.replace(/\/chat$/, '')
    const makeKey = async (body: object) =>
      (
        await stage.app.call<{ id: string; key: string }>('POST', `${agent}/keys`, {
          body: { role: 'chat', ...body },
        })
      ).body
    const small = await makeKey({ name: 'small', monthly_tokens: 500 })
    const large = await makeKey({ name: 'large' })
    const sendBy = ({ key }: { key: string }) =>
      stage.app.call('POST', path, { body: plain, headers: { authorization: `Bearer ${key}` } })
    stage.model.next(costly, costly, costly)
    expect((await sendBy(small)).status).toBe(200)
    expect(await sendBy(small)).toMatchObject({
      status: 429,
      body: {
        error: expect.stringMatching(/^The budget of this API key .* who manages the key can raise it\.$/),
      },
    })
    expect((await sendBy(large)).status).toBe(200)
    const { admins } = (await stage.app.call<{ admins: { id: string }[] }>('GET', `${agent}/admins`)).body
    const entry = `${agent}/admins/${admins[0]?.id}`
    const changed = await stage.app.call('PUT', entry, { body: { monthly_tokens: 600, monthly_usd: null } })
    expect(changed).toMatchObject({ status: 200, body: { role: 'owner', monthly_tokens: 600 } })
    for (const send of [() => sendBy(large), () => stage.send(path, plain)])
      expect(await send()).toMatchObject({
        status: 429,
        body: {
          error: expect.stringMatching(/^Your budget on this agent .* the agent's owners can raise it\.$/),
        },
      })
    await giveRole(stage.app, agent.split('/').at(-1) ?? '', {
      email: 'eve@example.com',
      role: 'admin',
      headers: {},
    })
    await stage.app.call('PUT', entry, { body: { monthly_tokens: null } })
    expect((await stage.send(path, plain)).status).toBe(200)
    expect((await stage.app.call('PUT', entry, { body: { role: 'viewer' } })).status).toBe(400)
  })
})
