/** Several processes of the service on one database, as behind a load balancer without sticky sessions. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ChatModel, type HeldStream, heldStream, startChatModel } from '../support/chat-model.ts'
import type { MessageList, TurnBody } from '../support/chat-stage.ts'
import { crashRounds, seededRandom } from '../support/endurance.ts'
import { openaiChunk, wireForm } from '../support/model-server.ts'
import { type ReplicaSet, startReplicas } from '../support/replica-set.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const agents = '/api/agents'
const chat = `${agents}/default/chat`
const sources = `${agents}/default/sources`
/** Milliseconds within which a replica's death is made good. */
const takeoverLimit = 60_000

let model: ChatModel
let replicas: ReplicaSet

beforeAll(async () => {
  model = await startChatModel()
  const prices = join(temporaryDirectory(afterAll), 'prices.json')
  writeFileSync(prices, JSON.stringify({ dear: { input: 0, output: 1000 } }))
  replicas = await startReplicas(3, {
    ...model.environment,
    DEV_USER: 'dev@example.com',
    LEASE_SECONDS: '5',
    // Only calls of the model `dear` have a price, so only the last test spends of it.
    MODEL_PRICES: prices,
    BUDGET_MONTHLY_USD: '10',
  })
  const body = { conversations_max: 1000 }
  const settings = chat.replace(/chat$/, 'settings')
  expect(await replicas.any().call('PUT', settings, { body })).toMatchObject({ status: 200 })
})

afterAll(async () => {
  await replicas[Symbol.asyncDispose]()
  await model[Symbol.asyncDispose]()
})

async function newConversation(): Promise<string> {
  const { body } = await replicas
    .any()
    .call<{ id: string }>('POST', `${chat}/conversations`, { body: { title: 'Shared' } })
  return body.id
}

async function upload(server: ServerProcess, name: string, text: string): Promise<string> {
  const form = new FormData()
  form.append('type', 'file')
  form.append('file', new File([text], `${name}.txt`))
  const response = await fetch(`${server.url}${sources}`, { method: 'POST', body: form })
  if (response.status !== 201) throw new Error(`the upload was answered with ${response.status}`)
  return ((await response.json()) as { id: string }).id
}

/** Waits until no source is in work, on any replica. */
async function untilSettled(): Promise<void> {
  const begun = performance.now()
  const inWork = `${sources}?status=processing&status=updating&status=pending`
  while ((await replicas.any().call<{ meta: { total: number } }>('GET', inWork)).body.meta.total > 0) {
    if (performance.now() - begun > takeoverLimit) throw new Error('sources are in work for too long')
    await delay(100)
  }
}

describe('three replicas on one database', () => {
  it('give a conversation to exactly one of 100 messages that come at once', async () => {
    const conversationId = await newConversation()
    const held: HeldStream = heldStream(['Only', ' once.'])
    model.next(held.reply)
    const answers: Promise<number>[] = []
    let refused = 0
    for (let n = 0; n < 100; n += 1) {
      const body = { content: `Message ${n}`, conversationId }
      answers.push(
        replicas
          .at(n)
          .call('POST', chat, { body })
          .then(({ status }) => {
            if (status === 409) refused += 1
            if (refused === 99) held.open()
            return status
          }),
      )
    }
    const statuses = await Promise.all(answers)
    expect(statuses.filter(status => status === 200)).toHaveLength(1)
    expect(statuses.filter(status => status === 409)).toHaveLength(99)
    const { body } = await replicas.at(1).call<MessageList>('GET', `${chat}?conversationId=${conversationId}`)
    expect(body.messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
  })

  it('overspend the budget of an agent by one turn at most, of 100 that come at once', async () => {
    const budget = 10_000
    /** What a turn reserves: more than its prompt has, and 1,000 tokens for its answer. */
    const estimate = 1_100
    const { body } = await replicas.any().call<{ id: string }>('POST', agents, { body: { name: 'spender' } })
    const path = `${agents}/${body.id}`
    await replicas.any().call('PUT', `${path}/settings`, {
      body: { monthly_tokens: budget, conversations_max: 1000 },
    })
    const reported = { turns: 0, input_tokens: 0, output_tokens: 0 }
    const costly = () => {
      reported.turns += 1
      const usage = { prompt_tokens: 900 + reported.turns, completion_tokens: 100 }
      reported.input_tokens += usage.prompt_tokens
      reported.output_tokens += usage.completion_tokens
      const last = { ...openaiChunk({}, 'stop'), usage }
      return { stream: wireForm('openai', [openaiChunk({ content: 'Yes.' }), last]) }
    }
    model.next(...Array.from({ length: 10 }, () => costly))
    const plain = { content: 'Hello', enableTools: false, autoRag: false }
    const statuses: number[] = []
    for (let isSpent = false; !isSpent; ) {
      const sent = Array.from({ length: 100 }, (_, n) =>
        replicas.at(n).call<{ code?: string; error?: string }>('POST', `${path}/chat`, { body: plain }),
      )
      const answers = await Promise.all(sent)
      statuses.push(...answers.map(({ status }) => status))
      expect(statuses.filter(status => status === 200)).toHaveLength(reported.turns)
      isSpent = answers.every(({ body: { error } }) => error?.includes('for this month is spent'))
    }
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
    const tokens = reported.input_tokens + reported.output_tokens
    expect(tokens).toBeGreaterThanOrEqual(budget)
    expect(tokens).toBeLessThanOrEqual(budget + estimate)
    for (const index of [0, 1, 2]) {
      const { total } = (await replicas.at(index).call<{ total: object }>('GET', `${path}/usage`)).body
      expect(total).toMatchObject({ ...reported, calls: reported.turns, estimated_tokens: 0 })
    }
    const { messages } = (await replicas.any().call<MessageList>('GET', `${path}/chat?limit=1000`)).body
    expect(messages.filter(({ role }) => role === 'assistant')).toHaveLength(reported.turns)
  })

  it('see one another’s changes of access at once', async () => {
    const { body } = await replicas.at(0).call<{ id: string }>('POST', agents, { body: { name: 'shared' } })
    expect((await replicas.at(1).call('GET', `${agents}/${body.id}`)).status).toBe(200)
    expect((await replicas.at(2).call('DELETE', `${agents}/${body.id}`)).status).toBe(200)
    expect((await replicas.at(1).call('GET', `${agents}/${body.id}`)).status).toBe(404)
    expect((await replicas.at(0).call('GET', `${agents}/${body.id}/chat`)).status).toBe(404)
  })

  it('process each of the documents that come to all of them once, and find it from each', async () => {
    const names = Array.from({ length: 12 }, (_, n) => `note${n}`)
    const ids = await Promise.all(
      names.map((name, n) => upload(replicas.at(n), name, `The keeper of ${name} is called qx${name}.`)),
    )
    await untilSettled()
    for (const [n, name] of names.entries()) {
      const { body } = await replicas
        .at(n + 1)
        .call<{ results: { source_id: string; content: string }[] }>(
          'GET',
          `${sources}/search?query=qx${name}&limit=50`,
        )
      const holding = body.results.filter(({ content }) => content.includes(`qx${name}.`))
      expect(holding.map(({ source_id }) => source_id)).toEqual([ids[n]])
      const { body: source } = await replicas.at(n).call('GET', `${sources}/${ids[n]}`)
      expect(source).toMatchObject({ status: 'ready', chunks: 1 })
    }
  })

  it(`lose nothing that was acknowledged when one of them is killed under load (${crashRounds} times)`, async () => {
    const random = seededRandom(20_261_121)
    const conversations = await Promise.all(Array.from({ length: 6 }, newConversation))
    const messages = new Map<string, string[]>(conversations.map(id => [id, []]))
    const uploads: string[] = []

    async function send(server: ServerProcess, conversationId: string, round: number): Promise<void> {
      const body = { content: `Round ${round}`, conversationId }
      const answer = await server.call<TurnBody>('POST', chat, { body }).catch(() => undefined)
      if (answer?.status !== 200) return
      messages.get(conversationId)?.push(answer.body.userMessage.id, answer.body.assistantMessage.id)
    }

    for (let round = 0; round < crashRounds; round += 1) {
      const load = [
        ...conversations.map((id, n) => send(replicas.at(n + round), id, round)),
        ...[0, 1, 2].map(n =>
          upload(replicas.at(n), `load${round}-${n}`, `Round ${round} says xv${round}y${n}.`).then(
            id => uploads.push(id),
            () => {},
          ),
        ),
      ]
      await delay(random() * 400)
      await replicas.at(round).kill()
      await Promise.all(load)
      await replicas.replace(round)
    }

    await untilSettled()
    expect(uploads.length).toBeGreaterThan(0)
    for (const id of uploads)
      expect((await replicas.any().call('GET', `${sources}/${id}`)).body, id).toMatchObject({
        status: 'ready',
      })
    expect([...messages.values()].flat().length).toBeGreaterThan(0)
    for (const [conversationId, ids] of messages) {
      const { body } = await replicas
        .any()
        .call<MessageList>('GET', `${chat}?conversationId=${conversationId}&limit=1000`)
      expect(body.messages.map(({ id }) => id)).toEqual(expect.arrayContaining(ids))
      await untilUnlocked(conversationId)
    }
  })

  // Comes last: once it is spent, this budget refuses all turns.
  it('let exactly ten of 100 turns of two agents spend the budget of all agents', async () => {
    const paths: string[] = []
    for (const name of ['first', 'second']) {
      const { body } = await replicas.any().call<{ id: string }>('POST', agents, { body: { name } })
      paths.push(`${agents}/${body.id}`)
    }
    // A turn costs what it reserves: a dollar for a thousand tokens of its answer.
    const usage = { prompt_tokens: 10, completion_tokens: 1_000 }
    const last = { ...openaiChunk({}, 'stop'), usage }
    const reply = { stream: wireForm('openai', [openaiChunk({ content: 'Yes.' }), last]) }
    model.next(...Array.from({ length: 10 }, () => reply))
    const plain = { content: 'Hello', enableTools: false, autoRag: false, model: 'openai-compatible/dear' }
    const ask = (n: number) =>
      replicas.at(n).call<{ error?: string }>('POST', `${paths[n % 2]}/chat`, { body: plain })
    const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => ask(n)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(90)
    for (const n of [0, 1, 2])
      expect((await ask(n)).body.error).toMatch(
        /^The budget of this service's own model credentials .* is spent/,
      )
    await replicas.any().call('PUT', `${paths[0]}/settings`, { body: { openai_compatible_api_key: 'own' } })
    expect((await ask(0)).status).toBe(200)
  })
})

/** Waits until the conversation takes a message: a replica that died in a turn must not keep it. */
async function untilUnlocked(conversationId: string): Promise<void> {
  const begun = performance.now()
  for (;;) {
    const { status } = await replicas.any().call('POST', chat, { body: { content: 'Go on', conversationId } })
    if (status === 200) return
    expect(status).toBe(409)
    expect(performance.now() - begun).toBeLessThan(takeoverLimit)
    await delay(200)
  }
}
