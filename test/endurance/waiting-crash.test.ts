import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { Question } from '../support/chat-model.ts'
import type { MessageList } from '../support/chat-stage.ts'
import { isFullEndurance, seededRandom } from '../support/endurance.ts'
import { eventually } from '../support/eventually.ts'
import { type MailServer, readMail, startMailServer } from '../support/mail-server.ts'
import { openaiText, openaiToolCall, startModelServer } from '../support/model-server.ts'
import { freePort } from '../support/replica-set.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { readTurn } from '../support/turn-reader.ts'

const agent = '/api/agents/default'
const [rounds, atOnce] = isFullEndurance ? [20, 5] : [1, 4]
/** Within which the server is killed once the turns of a round have begun, in milliseconds. */
const longest = 4_000
/** From a decision until the model is called again, in milliseconds. */
const goesOnMs = isFullEndurance ? 2_000 : 10_000
/** How often a person looks, in milliseconds. */
const pauseMs = 50

interface Current {
  turn: { status: string; waiting?: { approval_id?: string; session_id?: string } } | null
}

/** Of its own, so that nothing else has its port while it is started again. */
const host = '127.0.0.43'
/** Until a notice has been sent, in milliseconds: a job whose server was killed is tried again. */
const noticeMs = 120_000

const handedBack = 'has handed the browser back'
const mayHaveRun = 'may have done its work'

/** One takeover and one call that needs approval, each until it has an end; then an answer. */
function modelOf(calls: Map<string, number>, asked: Map<string, number>) {
  return startModelServer(async ({ path, body }) => {
    if (path.startsWith('/count/')) {
      calls.set(path, (calls.get(path) ?? 0) + 1)
      await delay(30)
      return { json: { counted: true } }
    }
    if (!path.endsWith('/chat/completions')) return { json: { data: [{ id: 'fake-model' }] } }
    const { messages } = body as Question
    const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user'))
    const turn = /Turn (\d+)/.exec(JSON.stringify(since[0]))?.[1] ?? ''
    asked.set(turn, (asked.get(turn) ?? 0) + 1)
    const made = JSON.stringify(since.flatMap(({ tool_calls = [] }) => tool_calls))
    const results = since.filter(({ role }) => role === 'tool').map(({ content }) => String(content))
    const steps = {
      count: !made.includes('"count"') && openaiToolCall('count', { turn }),
      ask:
        !results.some(result => result.includes(handedBack)) &&
        openaiToolCall('browser_ask_person', { reason: `Please, ${results.length}` }),
    }
    const [first, second] = Number(turn) % 2 === 0 ? [steps.ask, steps.count] : [steps.count, steps.ask]
    return { stream: first || second || openaiText(`Done ${turn}.`) }
  })
}

/** The links by which a turn's call is approved and refused, in each of its notices. */
function linksOf({ mails }: MailServer, turn: string): [approve: string, refuse: string][] {
  return mails.flatMap(({ raw }) => {
    const { text } = readMail(raw)
    if (!text.includes(`With: {"turn":"${turn}"}`)) return []
    const [approve, refuse] = ['Approve', 'Refuse'].map(
      title => new RegExp(`^${title}: http://[^/]+(\\S+)`, 'm').exec(text)?.[1],
    )
    return [[approve ?? '', refuse ?? '']]
  })
}

it(`kill -9 while turns wait for approvals and in browsers loses none, and does nothing twice (${rounds * atOnce} turns)`, async () => {
  const calls = new Map<string, number>()
  const asked = new Map<string, number>()
  await using model = await modelOf(calls, asked)
  await using mail = await startMailServer()
  const dataDirectory = temporaryDirectory()
  const random = seededRandom(20_261_128)
  const port = String(await freePort())
  const environment = {
    OPENAI_COMPATIBLE_BASE_URL: model.url,
    DEFAULT_PROVIDER: 'openai-compatible',
    DEFAULT_MODEL: 'fake-model',
    OUTBOUND_ALLOW: '127.0.0.1',
    CHAT_MAX_ITERATIONS: '20',
    RATE_LIMIT_GENERAL: '0',
    RATE_LIMIT_CHAT: '0',
    RATE_LIMIT_BROWSER: '0',
    SMTP_URL: mail.url,
    MAIL_FROM: 'agents@example.com',
    // Links need an address that is known.
    HOST: host,
    PORT: port,
    BASE_URL: `http://${host}:${port}`,
  }
  const start = () => startServerProcess({ dataDirectory, environment })
  let server: ServerProcess = await start()
  /** Changes when the server is killed, and when it is back: what was decided between the two may be lost. */
  let lives = 0
  const ann = { name: 'Ann', email: 'ann@example.com' }
  const { body: contact } = await server.call<{ id: string }>('POST', `${agent}/contacts`, { body: ann })
  await server.call('PUT', `${agent}/settings`, {
    body: { browser_tools: true, notify: { email: contact.id } },
  })
  await server.call('POST', `${agent}/tools`, {
    body: {
      name: 'count',
      description: 'Counts.',
      type: 'http',
      requiresApproval: 'always',
      configuration: {
        method: 'POST',
        url: `${model.url}/count/{turn}`,
        parameters: { type: 'object', properties: { turn: { type: 'string' } } },
      },
    },
  })

  /** As a client does whose server comes back. */
  async function answered<Body>(method: string, path: string, body?: object) {
    for (;;) {
      const answer = await server.call<Body>(method, path, { body }).catch(() => undefined)
      if (answer !== undefined && answer.status < 500) return answer
      await delay(pauseMs)
    }
  }
  const call = async <Body>(method: string, path: string, body?: object) =>
    (await answered<Body>(method, path, body)).body

  const slowest = { ms: 0 }
  /** Waits until the model is called again, unless the server is killed before. */
  async function goneOn(turn: string, before: number): Promise<void> {
    const [life, since] = [lives, performance.now()]
    while ((asked.get(turn) ?? 0) === before) {
      if (life !== lives) return
      const ms = performance.now() - since
      if (ms > 3 * goesOnMs) throw new Error(`turn ${turn} does not go on after its decision`)
      await delay(pauseMs)
    }
    slowest.ms = Math.max(slowest.ms, performance.now() - since)
  }

  /** At least one is sent, also if the server is killed meanwhile. */
  async function noticesOf(turn: string) {
    await eventually(() => expect(linksOf(mail, turn).length).toBeGreaterThan(0), noticeMs)
    return linksOf(mail, turn)
  }

  /** Does for a turn what it waits for; says whether it has ended. */
  async function decide(turn: string, conversationId: string) {
    const at = `${agent}/chat/conversations/${conversationId}/turn`
    const { turn: current } = await call<Current>('GET', at)
    if (current === null) return true
    const { approval_id, session_id } = current.waiting ?? {}
    if (current.status !== 'waiting') return false
    await delay(random() * 500)
    const before = asked.get(turn) ?? 0
    // Of every other two turns the person decides by the link that they were sent.
    if (approval_id !== undefined && Number(turn) % 4 < 2) {
      const [links] = await noticesOf(turn)
      const { status, body } = await answered<string>('POST', links?.[0] ?? '')
      // Else the server was killed once it had done so.
      if (status !== 200) expect(body).toMatch(/before|is over/)
      else await goneOn(turn, before)
      return false
    }
    const decision = approval_id ? `chat/approvals/${approval_id}` : `browser/${session_id}/takeover/end`
    // Else it was decided on before the server was killed, or its browser is gone, which the turn learns by itself.
    if ((await answered('POST', `${agent}/${decision}`, {})).status !== 200) return false
    await goneOn(turn, before)
    return false
  }

  let lost = 0
  async function take(turn: string): Promise<void> {
    const { userMessage, turn: begun } = await call<{
      turn: { id: string; events: string }
      userMessage: { conversationId: string }
    }>('POST', `${agent}/chat`, {
      content: `Turn ${turn}`,
      autoRag: false,
      background: true,
      clientMessageId: turn,
    })
    const { conversationId } = userMessage
    while (!(await decide(turn, conversationId))) await delay(pauseMs)
    const { events } = await readTurn(() => `${server.url}${begun.events}`)
    expect(events.at(-1)).toMatchObject({ type: 'message_complete', assistantMessageId: begun.id })
    const list = await call<MessageList>('GET', `${agent}/chat?conversationId=${conversationId}`)
    const answer = list.messages.at(-1)
    expect(answer).toMatchObject({ id: begun.id, content: `Done ${turn}.` })
    expect(answer?.metadata).not.toHaveProperty('waiting')
    const results = answer?.toolResults ?? []
    expect(results.filter(({ result }) => String(result).includes(handedBack))).toHaveLength(1)
    const counts = results.filter(({ name }) => name === 'count')
    expect(counts).toHaveLength(1)
    if (counts[0]?.error === undefined) expect(calls.get(`/count/${turn}`)).toBe(1)
    else expect(counts[0].error).toContain(mayHaveRun)
    if (counts[0]?.error !== undefined) lost += 1
    for (const link of (await noticesOf(turn)).flat())
      expect(await answered('POST', link)).toMatchObject({
        status: 409,
        body: expect.stringMatching(/before|is over/),
      })
  }

  for (let round = 0; round < rounds; round += 1) {
    const turns = Array.from({ length: atOnce }, (_, n) => take(String(round * atOnce + n)))
    await delay(random() * longest)
    lives += 1
    await server.kill()
    server = await start()
    lives += 1
    await Promise.all(turns)
  }
  await server[Symbol.asyncDispose]()
  expect(Math.max(...calls.values())).toBe(1)
  expect(calls.size + lost).toBeGreaterThanOrEqual(rounds * atOnce)
  expect(slowest.ms).toBeLessThan(goesOnMs)
})
