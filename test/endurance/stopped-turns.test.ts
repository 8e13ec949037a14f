/** What is left of turns that were stopped: no connection, no thread, no process, no lease, nobody who is asked for. */
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isOpen, type SessionStatus } from '#features/browser/sessions/session-status.ts'
import { type ChatModel, heldStream, startChatModel } from '../support/chat-model.ts'
import { isFullEndurance } from '../support/endurance.ts'
import { eventually } from '../support/eventually.ts'
import { type ModelServer, openaiToolCall, startModelServer } from '../support/model-server.ts'
import { openStream } from '../support/open-stream.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const agent = '/api/agents/default'
const rounds = isFullEndurance ? 10 : 1
/** Milliseconds within which all has ended, where the machine has nothing else to do. */
const endMs = isFullEndurance ? 2_000 : Number.POSITIVE_INFINITY
/** Of the processor, that a thread or a process which computes may take once its turn was stopped: hundredths of a second. */
const endTicks = 200
/** What computes has begun once it has taken so much of the processor. */
const begunTicks = 20

let model: ChatModel
let outside: ModelServer
/** Does not answer. */
let silent: Awaited<ReturnType<typeof startSilent>>
let server: ServerProcess
/** Threads and processes that the server had when it had nothing done yet. */
let others: ReadonlySet<string>
let dataDirectory: string
/** Requests to the outside that were begun and not ended. */
let open = 0

async function startSilent() {
  const server = createServer((_request, response) => {
    open += 1
    response.once('close', () => {
      open -= 1
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Ends when the service ends its connection. */
function hanging() {
  const held = heldStream(['data'])
  open += 1
  void held.ended.then(() => {
    open -= 1
  })
  return held.reply
}

beforeAll(async () => {
  dataDirectory = temporaryDirectory(afterAll)
  model = await startChatModel()
  outside = await startModelServer(hanging)
  silent = await startSilent()
  const environment = { ...model.environment, OUTBOUND_ALLOW: '127.0.0.1', CHAT_MAX_ITERATIONS: '2' }
  server = await startServerProcess({ dataDirectory, environment })
  others = new Set(processorTimes().keys())
  const tools = [
    { name: 'hang', type: 'http', configuration: { method: 'GET', url: outside.url } },
    { name: 'loop', type: 'javascript', configuration: { code: 'for (;;) {}' } },
  ]
  for (const tool of tools)
    await server.call('POST', `${agent}/tools`, { body: { ...tool, description: 'd' } })
  await server.call('PUT', `${agent}/settings`, { body: { browser_tools: true } })
})

afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await outside[Symbol.asyncDispose]()
  silent.close()
  await model[Symbol.asyncDispose]()
})

/** The processor time that each thread of the server, and each process that it has started, has taken, in hundredths of a second. */
function processorTimes(): Map<string, number> {
  const { pid } = server.process
  const threads = readdirSync(`/proc/${pid}/task`).map(id => `/proc/${pid}/task/${id}`)
  const children = threads.flatMap(thread => read(`${thread}/children`).split(' ').filter(Boolean))
  const places = [...threads, ...children.map(id => `/proc/${id}`)]
  return new Map(
    places.flatMap(place => {
      const fields = read(`${place}/stat`).split(') ').at(-1)?.split(' ') ?? []
      return fields.length > 12 ? [[place, Number(fields[11]) + Number(fields[12])]] : []
    }),
  )
}

/** Empty for what has ended meanwhile. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

interface Work {
  begun(): Promise<unknown>
  ended(): Promise<unknown>
}

const calling: Work = {
  begun: () => eventually(() => expect(open).toBeGreaterThan(0)),
  ended: () => eventually(() => expect(open).toBe(0)),
}

/** A thread or process that computes from here on, until its turn is stopped: it ends before it has taken much more of the processor. */
function computing(): Work {
  const before = processorTimes()
  let place = ''
  let first = 0
  return {
    begun: () =>
      eventually(() => {
        const grown = Array.from(
          processorTimes(),
          ([id, ticks]) => [id, ticks - (before.get(id) ?? 0)] as const,
        )
        const [most] = grown.filter(([id]) => !others.has(id)).sort(([, one], [, other]) => other - one)
        expect(most?.[1]).toBeGreaterThanOrEqual(begunTicks)
        place = most?.[0] ?? ''
        first = processorTimes().get(place) ?? 0
        first = processorTimes().get(place) ?? 0
      }),
    async ended() {
      for (
        let ticks = processorTimes().get(place);
        ticks !== undefined;
        ticks = processorTimes().get(place)
      ) {
        expect(ticks - first).toBeLessThan(endTicks)
        await delay(5)
      }
    },
  }
}

const call = (name: string, input: object = {}) => model.next({ stream: openaiToolCall(name, input) })

async function sessions(): Promise<string[]> {
  const list = `${agent}/browser?limit=100`
  const { body } = await server.call<{ sessions: { id: string; status: SessionStatus }[] }>('GET', list)
  return body.sessions.flatMap(({ id, status }) => (isOpen(status) ? [id] : []))
}

/** Sessions in which a person is waited for. */
async function takeovers(): Promise<string[]> {
  const asked: string[] = []
  for (const id of await sessions())
    if ((await server.call('GET', `${agent}/browser/${id}/takeover`)).status === 200) asked.push(id)
  return asked
}

/** The browser of a conversation outlives its turn, and acts at once; ends it. */
async function expectFreeBrowsers(): Promise<void> {
  for (const id of await sessions()) {
    const action = { action: 'evaluate', expression: '1 + 1' }
    expect(await server.call('POST', `${agent}/browser/${id}/execute`, { body: action })).toMatchObject({
      status: 200,
      body: { result: { value: 2 } },
    })
    await server.call('DELETE', `${agent}/browser?id=${id}`)
  }
}

/** What a turn is at work on. */
const works: Record<string, () => Work | Promise<Work>> = {
  'a model that speaks'() {
    const held = heldStream(['Half'])
    model.next(held.reply)
    return { begun: () => held.begun, ended: () => held.ended }
  },
  'code that computes'() {
    call('loop')
    return computing()
  },
  'a statement that computes'() {
    const query = 'with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c'
    call('execute_sql', { query })
    return computing()
  },
  'a tool whose server hangs'() {
    call('hang')
    return calling
  },
  'a page that hangs'() {
    call('browse_url', { url: outside.url })
    return calling
  },
  'a browser that waits for a page'() {
    call('browser_navigate', { url: silent.url })
    return calling
  },
  'a browser that waits for a person'() {
    call('browser_ask_person', { reason: 'Sign in' })
    return {
      begun: () => eventually(async () => expect(await takeovers()).toHaveLength(1)),
      ended: () => eventually(async () => expect(await takeovers()).toEqual([])),
    }
  },
}

/** Rows that keep others from conversations and jobs, and turns that have not ended. */
function held(): unknown[] {
  const database = new DatabaseSync(`${dataDirectory}/agents/default/agent.db`, { readOnly: true })
  const rows = [
    'select id from conversations where lock_holder is not null',
    'select name from outbox where lease_holder is not null',
    'select id from turns where ended_at is null',
  ].flatMap(query => database.prepare(query).all())
  database.close()
  return rows
}

async function begin(background: boolean): Promise<string> {
  const body = { content: 'Go', autoRag: false }
  if (background) {
    const given = { body: { ...body, background } }
    return (await server.call<{ turn: { id: string } }>('POST', `${agent}/chat`, given)).body.turn.id
  }
  const answer = await openStream(`${server.url}${agent}/chat`, body)
  const [start] = await answer.until('message_start')
  return String(start?.turnId)
}

it.each(
  Object.entries(works).flatMap(([name, work]) =>
    [false, true].map(
      background => [name, background ? 'in the background' : 'for a request', work] as const,
    ),
  ),
)('nothing is left of %s (%s)', async (_, how, work) => {
  for (let round = 0; round < rounds; round += 1) {
    const { begun, ended } = await work()
    const id = await begin(how === 'in the background')
    await begun()
    const stopped = performance.now()
    expect(await server.call('POST', `${agent}/chat/turns/${id}/stop`)).toMatchObject({
      status: 200,
      body: { status: 'stopped' },
    })
    await ended()
    await eventually(() => expect(held()).toEqual([]))
    expect(performance.now() - stopped).toBeLessThan(endMs)
    await expectFreeBrowsers()
  }
})
