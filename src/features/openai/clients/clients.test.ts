/** Clients as they are published, against the door. The model behind it does what the tests say. */
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { refusal } from '#test/support/chat-model.ts'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import {
  type ModelServer,
  openaiChunk,
  openaiText,
  openaiToolCall,
  startModelServer,
} from '#test/support/model-server.ts'
import { openAiClients } from '#test/support/openai-clients.ts'

let stage: ChatStage
let baseURL: string
let agent: string
/** What the tool `count` calls, which the service runs. */
let counter: ModelServer
let counted = 0

beforeAll(async () => {
  stage = await setChatStage({ environment: { OUTBOUND_ALLOW: '127.0.0.1' } })
  agent = await makeAgent(stage.app, { name: 'counter' })
  counter = await startModelServer(() => {
    counted += 1
    return { json: { said: `Counted ${counted}.` } }
  })
  const given = { name: 'count', description: 'Counts.', type: 'http' }
  const configuration = { url: counter.url, method: 'POST', parameters: { type: 'object', properties: {} } }
  const body = { ...given, configuration }
  expect(await stage.app.call('POST', `/api/agents/${agent}/tools`, { body })).toMatchObject({ status: 201 })
  baseURL = `${await stage.app.listen()}/api/openai/v1`
})

afterAll(async () => {
  await stage[Symbol.asyncDispose]()
  await counter[Symbol.asyncDispose]()
})

const say = (...pieces: string[]) => ({ stream: openaiText(...pieces) })
const call = (name: string, input: unknown, id?: string) => ({ stream: openaiToolCall(name, input, id) })
const down = () => refusal(500, 'overloaded')
const cut = {
  stream: [`data: ${JSON.stringify(openaiChunk({ content: 'Half an' }))}\n\n`],
  cut: true as const,
}

function toolResults(): unknown[] {
  return (stage.model.questions().at(-1)?.messages ?? []).filter(({ role }) => role === 'tool')
}

describe.each(Object.entries(openAiClients))('%s', (_name, connect) => {
  const client = (model = 'counter') => connect({ baseURL, apiKey: 'none', model })

  it('gets answers whole and in pieces', async () => {
    stage.model.next(say('Hello', ' there.'), say('Hello', ' again.'))
    expect(await client().plain('Hi')).toBe('Hello there.')
    expect(await client(agent).stream('Hi')).toBe('Hello again.')
  })

  it('runs its own tools, and never sees those of the agent', async () => {
    counted = 0
    stage.model.next(
      call('count', {}),
      call('weather', { city: 'Delft' }),
      call('weather', { city: 'Gouda' }),
      call('count', { again: true }),
      say('Rain in both.'),
    )
    const cities: string[] = []
    const answer = await client().withTool('How is it in Delft and Gouda?', city => {
      cities.push(city)
      return `Rain in ${city}.`
    })
    expect([answer, cities, counted]).toEqual(['Rain in both.', ['Delft', 'Gouda'], 2])
    // The model sees all of it, in its order.
    expect(toolResults()).toMatchObject([
      { content: expect.stringContaining('Counted 1.') },
      { content: 'Rain in Delft.' },
      { content: 'Rain in Gouda.' },
      { content: expect.stringContaining('Counted 2.') },
    ])
  })

  it('gets answers in a form', async () => {
    stage.model.next(say('```json\n{"city": "Delft"}\n```'), say('It is Gouda.'), say('{"city": "Gouda"}'))
    expect(await client().structured('Where?')).toEqual({ city: 'Delft' })
    expect(await client().structured('And now?')).toEqual({ city: 'Gouda' })
  })

  it('is told that there is no such model', async () => {
    await expect(client('nobody').plain('Hi')).rejects.toThrow(/model "nobody" does not exist/)
  })

  it.each<[string, () => Promise<unknown>]>([
    ['after a tool, whole', () => client().plain('Count.')],
    ['after a tool, in pieces', () => client().stream('Count.')],
  ])('calls a tool of the agent once if the model fails %s', async (_when, ask) => {
    counted = 0
    const before = stage.model.questions().length
    stage.model.next(call('count', {}), down(), down(), down())
    await expect(ask()).rejects.toThrow(/Tools had been called before/)
    expect([counted, stage.model.questions().length - before]).toEqual([1, 4])
  })

  it.each(['plain', 'stream'] as const)('learns that an answer broke off: %s', async how => {
    counted = 0
    stage.model.next(call('count', {}), cut)
    await expect(client()[how]('Count.')).rejects.toThrow(/Tools had been called before/)
    expect(counted).toBe(1)
  })

  it('ends the turn by going away', async () => {
    counted = 0
    const leaving = new AbortController()
    const ended = Promise.withResolvers<void>()
    async function* endless() {
      try {
        for (;;) {
          yield `data: ${JSON.stringify(openaiChunk({ content: 'On and on. ' }))}\n\n`
          await new Promise(resolve => setTimeout(resolve, 5))
        }
      } finally {
        ended.resolve()
      }
    }
    stage.model.next(call('count', {}), { stream: endless() })
    const asked = client().stream('Count.', { signal: leaving.signal, onText: () => leaving.abort() })
    await asked.catch(() => {})
    await ended.promise
    expect(counted).toBe(1)
  })
})

it('a failure before any tool may be repeated by the client', async () => {
  stage.model.next(down(), down(), down(), say('Here I am.'))
  const client = openAiClients['openai, chat completions']?.({ baseURL, apiKey: 'none', model: 'counter' })
  expect(await client?.plain('Hi')).toBe('Here I am.')
})

it('a request that its client repeats after a time-out does not call tools a second time', async () => {
  counted = 0
  const leaving = new AbortController()
  async function* slow() {
    leaving.abort()
    for (;;) {
      yield `data: ${JSON.stringify(openaiChunk({ content: 'Wait. ' }))}\n\n`
      await new Promise(resolve => setTimeout(resolve, 5))
    }
  }
  stage.model.next(call('count', {}), { stream: slow() }, call('count', {}), say('Twice.'))
  // A proxy that closes the connection of the first request.
  const signals = [leaving.signal]
  const client = new OpenAI({
    baseURL,
    apiKey: 'none',
    fetch: (url, init) =>
      fetch(url, { ...init, signal: AbortSignal.any([init?.signal, signals.pop()].filter(each => !!each)) }),
  })
  const ask = () => client.responses.create({ model: 'counter', input: 'Count, please.' })
  await expect(ask()).rejects.toMatchObject({ status: 400, code: 'turn_failed_after_tools' })
  expect(counted).toBe(1)
  // A person who repeats it knows what it does.
  expect((await ask()).output_text).toBe('Twice.')
})

it('the list of models names the agents, which can be got one by one', async () => {
  const client = new OpenAI({ baseURL, apiKey: 'none' })
  const listed = (await client.models.list()).data.map(({ id }) => id)
  expect(listed).toEqual(['default', 'counter'])
  expect(await client.models.retrieve('counter')).toMatchObject({ id: 'counter', owned_by: 'agentstead' })
  await expect(client.models.retrieve('nobody')).rejects.toMatchObject({
    status: 404,
    code: 'model_not_found',
  })
})

it('too many requests are refused as clients know it', async () => {
  await using limited = await setChatStage({ environment: { RATE_LIMIT_CHAT: '1' } })
  const address = `${await limited.app.listen()}/api/openai/v1`
  const connection = { baseURL: address, apiKey: 'none', model: 'default', maxRetries: 0 }
  await new OpenAI(connection).responses.create({ model: 'default', input: 'Hi' })
  for (const connect of Object.values(openAiClients))
    await expect(connect(connection).plain('Hi')).rejects.toThrow(/Too many requests/)
  expect(limited.model.questions()).toHaveLength(1)
})
