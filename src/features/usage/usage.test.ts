/** What agents use of models, as services report it, and who may see it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { giveRole } from '#test/support/agents.ts'
import { heldStream, refusal } from '#test/support/chat-model.ts'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import { eventually } from '#test/support/eventually.ts'
import { openaiChunk, openaiToolCall, wireForm } from '#test/support/model-server.ts'
import { openStream } from '#test/support/open-stream.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import { readTurn } from '#test/support/turn-reader.ts'
import { workflowCalls } from '#test/support/workflows.ts'
import type { Usage } from './usage.schema.ts'

let stage: ChatStage
let url: string

beforeAll(async () => {
  const prices = join(temporaryDirectory(afterAll), 'prices.json')
  writeFileSync(prices, JSON.stringify({ 'fake-model': { input: 2.5, cached_input: 0.25, output: 10 } }))
  stage = await setChatStage({ environment: { MODEL_PRICES: prices } })
  url = await stage.app.listen()
})

afterAll(() => stage[Symbol.asyncDispose]())

/** An answer whose service reports tokens: input, of it cached, output; and what it charges. */
function reported([input, cached, output]: number[], cost?: number) {
  const usage = {
    prompt_tokens: input,
    completion_tokens: output,
    prompt_tokens_details: { cached_tokens: cached },
    ...(cost !== undefined && { cost }),
  }
  return wireForm('openai', [openaiChunk({ content: 'Yes.' }), { ...openaiChunk({}, 'stop'), usage }])
}

async function usageOf(path: string, query = ''): Promise<Usage> {
  const { status, body } = await stage.app.call<Usage>('GET', `${path.replace(/chat$/, 'usage')}${query}`)
  expect(status).toBe(200)
  return body
}

describe('usage [GET /api/agents/{id}/usage]', () => {
  it('adds up to what was reported, with the cost of each turn, by model and author', async () => {
    const path = await stage.makeChat()
    expect((await usageOf(path)).usage).toEqual([])
    stage.model.next({ stream: reported([1000, 600, 20]) })
    const first = await stage.send(path, { content: 'Hello' })
    // 400 at 2.50, 600 at 0.25 and 20 at 10 dollars per million.
    const usage = { inputTokens: 1000, cachedInputTokens: 600, outputTokens: 20, cost: '0.00135' }
    expect(first.body.assistantMessage.metadata?.usage).toEqual(usage)
    stage.model.next(
      { stream: openaiToolCall('search_knowledge', { query: 'x' }) },
      { stream: reported([10, 0, 5], 0.125) },
    )
    await stage.send(path, { content: 'Search', model: 'openai-compatible/dear' })
    await stage.send(path, { content: 'Hello', model: 'builtin' })
    const [builtin, dear, fake] = (await usageOf(path, '?group=model')).usage
    expect(builtin).toMatchObject({ model: 'builtin', turns: 1, calls: 1, estimated_tokens: 0, cost: '0' })
    expect(fake).toMatchObject({
      model: 'fake-model',
      turns: 1,
      input_tokens: 1000,
      cached_input_tokens: 600,
      cost: '0.00135',
    })
    // The call of the tool reported nothing, and has no price.
    expect(dear).toMatchObject({
      model: 'dear',
      turns: 1,
      calls: 2,
      input_tokens: 10,
      unpriced_calls: 1,
      cost: '0.125',
    })
    expect(dear?.estimated_tokens).toBeGreaterThan(50)
    const { usage: days, total } = await usageOf(path)
    expect(days).toEqual([{ day: new Date().toISOString().slice(0, 10), ...total }])
    expect(total).toMatchObject({
      turns: 3,
      calls: 4,
      input_tokens: 1010,
      output_tokens: 25,
      cost: '0.12635',
    })
    expect((await usageOf(path, '?group=person')).usage).toMatchObject([
      { person: 'dev@example.com', turns: 3 },
    ])
    expect((await usageOf(path, '?group=key')).usage).toMatchObject([{ key: null, turns: 3 }])
    expect((await usageOf(path, '?from=2020-01-01&to=2020-01-31')).usage).toEqual([])
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(
      /model_cost_usd_total\{provider="openai-compatible"\} 0\.12/,
    )
  })

  it.each<[input: unknown, output: unknown, usage: object | undefined]>([
    [1000.4, 19.6, { inputTokens: 1000, outputTokens: 20 }],
    [-5, 20, { inputTokens: 0, outputTokens: 20 }],
    ['1000', 20, { inputTokens: 0, outputTokens: 20 }],
    [1e300, 20, { inputTokens: 0, outputTokens: 20 }],
    [1e9, 20, { inputTokens: 0, outputTokens: 20 }],
    [null, [20], undefined],
    [-1, 1e300, undefined],
  ])('counts whole numbers that can be tokens: of %j and %j', async (input, output, usage) => {
    const path = await stage.makeChat()
    stage.model.next({ stream: reported([input, 0, output] as number[]) })
    const { status, body } = await stage.send(path, { content: 'Hello', autoRag: false })
    expect(status).toBe(200)
    const { cost: _cost, ...given } = { cost: '', ...body.assistantMessage.metadata?.usage }
    expect(given).toEqual(usage ?? {})
    const { input_tokens, output_tokens, estimated_tokens } = (await usageOf(path)).total
    if (usage === undefined) expect(estimated_tokens).toBeGreaterThan(0)
    else expect({ inputTokens: input_tokens, outputTokens: output_tokens }).toEqual(usage)
  })

  it('has one row of all models that their service does not have', async () => {
    const path = await stage.makeChat()
    for (const model of ['openai-compatible/made-up-1', 'openai-compatible/made-up-2']) {
      stage.model.next(refusal(404, 'The model does not exist', 'model_not_found'))
      const body = { content: 'Hello', model }
      expect(await stage.app.call('POST', path, { body })).toMatchObject({ body: { code: 'MODEL_UNKNOWN' } })
    }
    expect((await usageOf(path, '?group=model')).usage).toMatchObject([
      { model: 'unknown', turns: 2, calls: 2, estimated_tokens: 0, cost: '0' },
    ])
  })

  it('has streams that were cut: what was reported until then, or an estimate', async () => {
    const path = await stage.makeChat()
    const usage = { prompt_tokens: 70, completion_tokens: 1 }
    const counted = heldStream(['Once'])
    const chunk = `data: ${JSON.stringify({ ...openaiChunk({ content: 'Well' }), usage })}\n\n`
    const withReport = async function* () {
      yield chunk
      yield* (counted.reply as { stream: AsyncIterable<string> }).stream
    }
    for (const reply of [{ stream: withReport() }, heldStream(['Once upon a time']).reply]) {
      stage.model.next(reply)
      const answer = await openStream(`${url}${path}`, { content: 'Tell me' })
      await answer.until('content_delta')
      answer.close()
    }
    await eventually(async () =>
      expect((await usageOf(path)).total).toMatchObject({ turns: 2, input_tokens: 70, output_tokens: 1 }),
    )
    expect((await usageOf(path)).total.estimated_tokens).toBeGreaterThan(50)
  })

  it('counts a turn that has waited for a person once, with the cost of all its calls', async () => {
    const path = await stage.makeChat()
    const tool = { name: 'pay', description: 'd', type: 'javascript', configuration: { code: 'return 1' } }
    await stage.app.call('POST', path.replace(/chat$/, 'tools'), {
      body: { ...tool, requiresApproval: 'always' },
    })
    const usage = { prompt_tokens: 100, completion_tokens: 10 }
    const report = `data: ${JSON.stringify({ ...openaiChunk({}), usage })}\n\n`
    const call = openaiToolCall('pay', {}).toSpliced(-1, 0, report)
    stage.model.next({ stream: call }, { stream: reported([300, 0, 30]) })
    const { body } = await stage.app.call<{ turn: { events: string } }>('POST', path, {
      body: { content: 'Pay', autoRag: false, background: true },
    })
    const pending = async () => {
      const list = `${path}/approvals?status=pending`
      return (await stage.app.call<{ approvals: { toolCallId: string }[] }>('GET', list)).body.approvals
    }
    await eventually(async () => expect(await pending()).toHaveLength(1))
    const [held] = await pending()
    await stage.app.call('POST', `${path}/approvals/${held?.toolCallId}`, { body: { approved: true } })
    await readTurn(() => `${url}${body.turn.events}`)
    const answer = (await stage.messages(path)).at(-1)
    // 400 at 2.50 and 40 at 10 dollars per million.
    expect(answer?.metadata?.usage).toEqual({ inputTokens: 400, outputTokens: 40, cost: '0.0014' })
    expect((await usageOf(path)).total).toMatchObject({
      turns: 1,
      calls: 2,
      input_tokens: 400,
      cost: '0.0014',
    })
  })

  it('has no row of an agent that is deleted during a turn', async () => {
    const path = await stage.makeChat()
    const agentId = path.split('/')[3] ?? ''
    const held = heldStream(['Well'], ['.'])
    stage.model.next({ stream: reported([7, 0, 1]) }, held.reply)
    await stage.send(path, { content: 'Hello' })
    const sent = stage.send(path, { content: 'Hello' })
    await held.begun
    expect(await stage.app.call('DELETE', `/api/agents/${agentId}`)).toMatchObject({ status: 200 })
    held.open()
    expect((await sent).status).toBe(404)
    const { platform } = stage.app.service.infrastructure
    for (const table of ['usage', 'budgets'] as const)
      expect(await platform.selectFrom(table).selectAll().where('agent_id', '=', agentId).execute()).toEqual(
        [],
      )
  })

  it('has turns by key, of clients of OpenAI, and of nodes without a conversation', async () => {
    const path = await stage.makeChat()
    const agent = path.replace(/\/chat$/, '')
    const { body: key } = await stage.app.call<{ id: string; key: string }>('POST', `${agent}/keys`, {
      body: { name: 'CI', role: 'chat' },
    })
    stage.model.next({ stream: reported([7, 0, 1]) })
    const door = await stage.app.call('POST', '/api/openai/v1/chat/completions', {
      headers: { authorization: `Bearer ${key.key}` },
      body: { model: agent.split('/').at(-1), messages: [{ role: 'user', content: 'Hi' }] },
    })
    expect(door.status).toBe(200)
    const { usage } = await usageOf(path, '?group=key')
    expect(usage).toMatchObject([{ key: key.id, turns: 1, input_tokens: 7 }])
    expect((await usageOf(path, '?group=person')).usage).toMatchObject([{ person: 'dev@example.com' }])
    const calls = workflowCalls(stage.app, agent)
    const workflow = await calls.create(
      { start: { type: 'trigger' }, ask: { type: 'chat', message: 'Hi' } },
      ['start > ask'],
    )
    stage.model.next({ stream: reported([3, 0, 2]) })
    await calls.run(workflow)
    expect((await usageOf(path)).total).toMatchObject({ turns: 2, input_tokens: 10, output_tokens: 3 })
  })

  it('is for the admins of an agent, and refuses days that are none', async () => {
    const agentId = (await stage.makeChat()).split('/')[3] ?? ''
    const viewer = { email: 'vera@example.com', role: 'viewer' } as const
    await giveRole(stage.app, agentId, { ...viewer, headers: {} })
    const path = `/api/agents/${agentId}/usage`
    for (const query of ['?from=2026-02-31', '?from=2026-03-01&to=2026-02-01', '?group=week'])
      expect(await stage.app.call('GET', path + query)).toMatchObject({ status: 400 })
    const foreign = { origin: 'https://evil.example' }
    expect((await stage.app.call('GET', path, { headers: foreign })).status).toBe(403)
  })
})
