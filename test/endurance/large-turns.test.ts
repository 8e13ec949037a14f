/** What a turn in the background takes of the database that says very much. */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { heldStream } from '../support/chat-model.ts'
import { type ChatStage, setChatStage } from '../support/chat-stage.ts'
import type { AcceptedTurn } from '../support/cut-readings.ts'
import { manualClock } from '../support/manual-clock.ts'
import { openaiChunk, openaiToolCall } from '../support/model-server.ts'
import { passTime } from '../support/pass-time.ts'
import { readTurn } from '../support/turn-reader.ts'

/** The most that a model may say in a turn. */
const characters = 1_000_000
const minute = 60_000

const clock = manualClock()
let stage: ChatStage
let url: string

beforeAll(async () => {
  stage = await setChatStage({ clock })
  url = await stage.app.listen()
})

afterAll(() => stage[Symbol.asyncDispose]())

async function begin(path: string): Promise<string> {
  const body = { content: 'Go', autoRag: false, background: true }
  const answer = await stage.app.call<AcceptedTurn>('POST', path, { body })
  expect(answer.status).toBe(200)
  return `${url}${answer.body.turn.events}`
}

/** Bytes that an agent's database is in use of. */
async function usedBytes(path: string): Promise<number> {
  const { agentDatabases } = stage.app.service.infrastructure
  const { rows } = await agentDatabases.use(path.split('/')[3] ?? '', ({ db }) =>
    sql<{ bytes: number }>`select (page_count - freelist_count) * page_size as bytes
      from pragma_page_count, pragma_freelist_count, pragma_page_size`.execute(db),
  )
  return rows[0]?.bytes ?? 0
}

function inPieces(text: string): string[] {
  return Array.from({ length: Math.ceil(text.length / 1000) }, (_, at) =>
    text.slice(at * 1000, at * 1000 + 1000),
  )
}

it.each([
  ['one byte', 'words '],
  ['two bytes', 'слова '],
])('a turn of a million characters of %s each adds at most 8 MB, for ten minutes', async (_, piece) => {
  const path = await stage.makeChat()
  const before = await usedBytes(path)
  const ending = ' The end.'
  const call = openaiToolCall('search_knowledge', { query: 'x' })
  const room = characters - ending.length - JSON.stringify({ query: 'x' }).length
  const text = piece.repeat(Math.ceil(room / piece.length)).slice(0, room)
  const said = inPieces(text).map(content => `data: ${JSON.stringify(openaiChunk({ content }))}\n\n`)
  const held = heldStream([], [ending])
  stage.model.next({ stream: [...said, ...call] }, held.reply)
  const events = await begin(path)
  await held.begun
  const meanwhile = await usedBytes(path)
  held.open()
  expect((await readTurn(() => events)).text).toBe(`${text}\n\n${ending}`)
  const most = Math.max(meanwhile, await usedBytes(path))
  await passTime(stage.app, clock, 10 * minute)
  const kept = await usedBytes(path)
  // The answer, which stays, as it stays of a turn for a request.
  expect(kept - before).toBeLessThan(1.1 * Buffer.byteLength(text) + 100_000)
  expect(most - kept).toBeLessThanOrEqual(8_000_000)
})
