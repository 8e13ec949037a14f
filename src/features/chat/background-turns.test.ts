import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { row } from '#test/spec/row.ts'
import { heldStream, refusal, usualAnswer } from '#test/support/chat-model.ts'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import { seededRandom } from '#test/support/endurance.ts'
import { eventually } from '#test/support/eventually.ts'
import { openaiText, openaiToolCall } from '#test/support/model-server.ts'
import { readTurn } from '#test/support/turn-reader.ts'
import { TurnLog } from './background/turn-log.ts'
import { appendEvents, changeInRun } from './rows/turns.repository.ts'

interface Accepted {
  userMessage: { id: string; conversationId: string; content: string }
  turn: { id: string; status: string; events: string }
  code?: string
}

let stage: ChatStage
let url: string

beforeAll(async () => {
  stage = await setChatStage({ environment: { OUTBOUND_ALLOW: '127.0.0.1' } })
  url = await stage.app.listen()
})

afterAll(() => stage[Symbol.asyncDispose]())

const send = (path: string, body: object) =>
  stage.app.call<Accepted>('POST', path, {
    body: { content: 'Hello', autoRag: false, background: true, ...body },
  })
const read = ({ turn }: Accepted, options = {}) => readTurn(() => `${url}${turn.events}`, options)
const stop = (path: string, { turn }: Accepted) => stage.app.call('POST', `${path}/turns/${turn.id}/stop`)

/** Numbers from 1, without a gap. */
const numbered = (turnId: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${turnId}.${index + 1}`)

describe(`a turn in the background ${row('POST /api/agents/{id}/chat')}`, () => {
  it('is accepted at once, goes on by itself, and is read from its beginning', async () => {
    const path = await stage.makeChat()
    const held = heldStream(['One'], [' two', ' three'])
    stage.model.next(held.reply)
    const { status, body } = await send(path, {})
    expect(status).toBe(200)
    expect(body).toMatchObject({ userMessage: { content: 'Hello' }, turn: { status: 'queued' } })
    const reading = read(body)
    await held.begun
    held.open()
    const { events, ids, text } = await reading
    expect(text).toBe('One two three')
    expect(ids).toEqual(numbered(body.turn.id, events.length))
    expect(events[0]).toMatchObject({
      type: 'message_start',
      turnId: body.turn.id,
      userMessageId: body.userMessage.id,
    })
    expect(events.at(-1)).toMatchObject({ type: 'message_complete', assistantMessageId: body.turn.id })
    const deltas = events.filter(({ type }) => type === 'content_delta')
    expect(deltas.map(({ index }) => index)).toEqual(deltas.map((_, index) => index))
    expect((await stage.messages(path)).map(({ id, content }) => [id, content])).toEqual([
      [body.userMessage.id, 'Hello'],
      [body.turn.id, 'One two three'],
    ])
    expect((await fetch(`${url}${body.turn.events}?after=${events.length}`)).status).toBe(204)
    expect((await read(body)).events).toEqual(events)
    const { events: rest } = await read(body, { after: `${body.turn.id}.2` })
    expect(rest).toEqual(events.slice(2))
  })

  it('streams to the request that began it, and outlives it', async () => {
    const path = await stage.makeChat()
    const held = heldStream(['One'], [' two'])
    stage.model.next(held.reply)
    const connection = new AbortController()
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ content: 'Hello', autoRag: false, background: true, stream: true }),
      signal: connection.signal,
    })
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!text.includes('One')) text += (await reader?.read())?.value ?? ''
    connection.abort()
    const [, turnId = ''] = /id: (\S+)\.1\n/.exec(text) ?? []
    held.open()
    const whole = await readTurn(() => `${url}${path}/turns/${turnId}/events`)
    expect(whole.text).toBe('One two')
    expect((await stage.messages(path)).at(-1)).toMatchObject({ content: 'One two' })
  })

  it('answers anew', async () => {
    const path = await stage.makeChat()
    const { body } = await stage.send(path, { content: 'Hello' })
    stage.model.next({ stream: openaiText('Again.') })
    const again = await stage.app.call<Accepted>(
      'POST',
      `${path}/messages/${body.assistantMessage.id}/regenerate`,
      {
        body: { background: true },
      },
    )
    expect(again.body.userMessage).toEqual(body.userMessage)
    expect((await read(again.body)).text).toBe('Again.')
    expect((await stage.messages(path)).map(({ content }) => content)).toEqual(['Hello', 'Again.'])
  })

  it('tells of tools, thoughts that are taken back, and errors, as any stream does', async () => {
    const path = await stage.makeChat()
    stage.model.next({ stream: openaiToolCall('search_knowledge', { query: 'a' }) }, refusal(401, 'no'))
    const { events } = await read((await send(path, {})).body)
    expect(events.map(({ type }) => type)).toEqual([
      ...['message_start', 'thinking', 'tool_call', 'tool_result', 'thinking', 'error'],
    ])
  })

  it('is joined by a message that is sent again', async () => {
    const path = await stage.makeChat()
    const body = { clientMessageId: 'mine-1' }
    const sent = await Promise.all([send(path, body), send(path, body), send(path, body)])
    const [first] = sent
    expect(new Set(sent.map(one => one.body.turn.id)).size).toBe(1)
    expect((await read(first?.body as Accepted)).text).toBe(usualAnswer)
    expect((await send(path, body)).body).toMatchObject({
      turn: { id: first?.body.turn.id, status: 'ended' },
    })
    expect(await send(path, { ...body, content: 'Other' })).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('Another message') },
    })
    expect(await stage.messages(path)).toHaveLength(2)
  })

  it('whose log is full ends with the whole text, which is all that its readers lack', async () => {
    const path = await stage.makeChat()
    // Six bytes a character in a log.
    const pieces = Array.from({ length: 1000 }, (_, n) => `${n}:`.padEnd(900, '\u0001'))
    stage.model.next({ stream: openaiText(...pieces) })
    const { body } = await send(path, {})
    const { events, ids, text } = await read(body)
    expect(text).toBe(pieces.join(''))
    expect((await stage.messages(path)).at(-1)?.content).toBe(text)
    expect(events.slice(-2).map(({ type }) => type)).toEqual(['content_replaced', 'message_complete'])
    expect(ids).toEqual(numbered(body.turn.id, events.length))
    const deltas = events.filter(({ type }) => type === 'content_delta').map(({ delta }) => String(delta))
    expect(JSON.stringify(deltas).length).toBeLessThan(2_000_000)
    expect((await readTurn(() => `${url}${body.turn.events}`, { after: ids[1] ?? '' })).text).toBe(text)
  })

  it('whose last events could not be stored ends with the whole text', async () => {
    const path = await stage.makeChat()
    const held = heldStream(['One'])
    stage.model.next(held.reply)
    const { conversationId } = (await send(path, {})).body.userMessage
    await held.begun
    const { body } = await send(path, { conversationId, on_busy: 'queue' })
    const agentId = path.split('/').at(-2) ?? ''
    await stage.app.service.infrastructure.agentDatabases.use(agentId, async ({ db }) => {
      // A run that counts no longer stores nothing.
      const turn = { id: body.turn.id, run: -1 }
      const start = { last: 0, bytes: 0, deltas: 0 }
      const log = new TurnLog({ db, isExclusive: true, turn, start, onWritten() {}, onLost() {} })
      log.add({ type: 'content_delta', delta: 'Lost.', index: 0 })
      await log.settle()
      turn.run = 0
      const ended = { status: 'ended', state: null, ended_at: new Date().toISOString(), question: '{}' }
      await changeInRun(db, turn, ended)
      const { events, after } = log.lastEvents({ type: 'error', message: 'M', code: 'CONFLICT' }, 'Whole.')
      await appendEvents(db, turn.id, events, after)
    })
    held.open()
    expect((await read(body)).events).toMatchObject([
      { type: 'content_replaced', content: 'Whole.' },
      { type: 'error' },
    ])
  })

  it('waits for its turn if it is to, in order, and is refused if not', async () => {
    const path = await stage.makeChat()
    const held = heldStream(['One'])
    stage.model.next(held.reply)
    const { body: first } = await send(path, {})
    const { conversationId } = first.userMessage
    await held.begun
    const of = { conversationId, on_busy: 'queue' }
    expect(await send(path, { conversationId })).toMatchObject({
      status: 409,
      body: { code: 'CONVERSATION_LOCKED' },
    })
    const queued: Accepted[] = []
    for (let n = 1; n <= 20; n += 1) queued.push((await send(path, { ...of, content: `No ${n}` })).body)
    expect(await send(path, of)).toMatchObject({ status: 409, body: { code: 'CONFLICT' } })
    for (const one of queued.slice(2))
      expect((await stop(path, one)).body).toMatchObject({ status: 'stopped' })
    const [last] = queued.slice(-1)
    expect((await read(last as Accepted)).events).toMatchObject([{ type: 'error', code: 'CONFLICT' }])
    held.open()
    for (const one of queued.slice(0, 2)) expect((await read(one)).text).toBe(usualAnswer)
    const said = (await stage.messages(path, conversationId)).filter(({ role }) => role === 'user')
    expect(said.map(({ content }) => content)).toEqual(['Hello', 'No 1', 'No 2'])
  })

  it('waits for a turn that has no background', async () => {
    const path = await stage.makeChat()
    const held = heldStream(['One'])
    stage.model.next(held.reply)
    const sent = stage.send(path, { content: 'First' })
    await held.begun
    const [asked] = await stage.messages(path)
    const { body } = await send(path, { conversationId: asked?.conversationId, on_busy: 'queue' })
    held.open()
    await sent
    expect((await read(body)).text).toBe(usualAnswer)
  })

  it('is stopped, and its readers learn so', async () => {
    const path = await stage.makeChat()
    const held = heldStream(['Half'])
    stage.model.next(held.reply)
    const { body } = await send(path, {})
    const reading = read(body)
    await held.begun
    await eventually(async () => expect((await stage.messages(path)).at(-1)?.content).toBe('Half'))
    expect((await stop(path, body)).body).toEqual({ id: body.turn.id, status: 'stopped' })
    const { events, text } = await reading
    expect(text).toBe('Half')
    expect(events.at(-1)).toMatchObject({ type: 'message_complete' })
    expect((await stage.messages(path)).at(-1)?.metadata).toMatchObject({ stopped: true })
  })

  it.each([
    [{ clientMessageId: 'a' }, 'clientMessageId'],
    [{ on_busy: 'queue' }, 'on_busy'],
  ])('is needed for %o', async (body, field) => {
    const answer = await stage.app.call('POST', await stage.makeChat(), {
      body: { content: 'Hello', ...body },
    })
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining(field) } })
  })

  it('gives each of many readers that are cut anywhere every event once', async () => {
    const random = seededRandom(20_261_127)
    const path = await stage.makeChat()
    const turns = await Promise.all(
      Array.from({ length: 6 }, async (_, n) => {
        const held = heldStream(
          [`${n}:`, 'é€🙂'],
          Array.from({ length: 150 }, (_, at) => ` ${n}-${at}`),
        )
        stage.model.next(held.reply)
        setTimeout(held.open, 300)
        return (await send(path, {})).body
      }),
    )
    const readings = turns.flatMap(turn =>
      [0, 1].map(async () => {
        let cuts = 10
        const cutAfter = () => {
          cuts -= 1
          return cuts < 0 ? undefined : Math.floor(random() * 400)
        }
        return { turn, ...(await read(turn, { cutAfter })) }
      }),
    )
    for (const { turn, events, ids, text } of await Promise.all(readings)) {
      const [stored] = (await stage.messages(path, turn.userMessage.conversationId)).slice(-1)
      expect(text).toBe(stored?.content)
      expect(ids).toEqual(numbered(turn.turn.id, events.length))
      expect(events.filter(({ type }) => type === 'message_complete')).toHaveLength(1)
    }
  })
})
