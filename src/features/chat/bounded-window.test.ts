import { expect, it, onTestFinished } from 'vitest'
import { openEmbeddedStorage } from '#test/support/embedded-storage.ts'
import { readBounded } from './conversations/bounded-window.ts'
import { insertConversation } from './rows/conversations.repository.ts'
import { insertMessage } from './rows/messages.repository.ts'

const createdAt = '2026-01-01T00:00:00.000Z'

/** Two conversations whose messages came in turns; those of the first are numbered from 1, each of 100 characters. */
async function setStage(count: number, result?: string) {
  const storage = await openEmbeddedStorage()
  await storage.addAgent('a')
  const agent = await storage.agentDatabases.acquire('a')
  onTestFinished(() => agent.release())
  for (const id of ['talk', 'other'])
    await insertConversation(agent.db, { id, title: id, messageCount: 0, createdAt })
  const sequences = [0]
  for (let number = 1; number <= count; number += 1)
    for (const conversationId of ['talk', 'other']) {
      const content = `${conversationId} ${number}`.padEnd(100)
      const message = { id: `${conversationId}-${number}`, role: 'user' as const, content, conversationId }
      const sequence = await insertMessage(agent.db, {
        ...message,
        toolCalls: null,
        toolResults: result === undefined ? null : [{ toolCallId: 'a', name: 'a', result }],
        createdAt,
      })
      if (conversationId === 'talk') sequences.push(sequence)
    }
  const read = async (
    place: number,
    characters: number,
    { end = 'newest', ofResult }: { end?: 'newest' | 'oldest'; ofResult?: number } = {},
  ) => {
    const edge = sequences[place] ?? 0
    const side = end === 'newest' ? { before: edge } : { after: edge }
    const window = { conversationId: 'talk', ...side, end, limit: 400 }
    return (await readBounded(agent.db, window, { characters, ...(ofResult && { ofResult }) })).messages.map(
      ({ id }) => id,
    )
  }
  return { read }
}

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `talk-${from + index}`)

it('reads what was said before the question, oldest first, and nothing of other conversations', async () => {
  const { read } = await setStage(70)
  expect(await read(70, 1_000_000)).toEqual(numbered(1, 69))
  expect(await read(3, 1_000_000)).toEqual(['talk-1', 'talk-2'])
  expect(await read(41, 1_000_000)).toEqual(numbered(1, 40))
  expect(await read(1, 1_000_000)).toEqual([])
})

it('reads no further back than fills the prompt, and always enough to fill it', async () => {
  const { read } = await setStage(70)
  for (const characters of [1, 1500, 3000, 4500]) {
    const ids = await read(70, characters)
    expect(ids).toEqual(numbered(70 - ids.length, 69))
    expect(ids.length * 100).toBeGreaterThanOrEqual(characters)
    expect(ids.length * 100).toBeLessThan(characters + 100)
  }
})

it('reads forwards as well', async () => {
  const { read } = await setStage(45)
  expect(await read(3, 1_000_000, { end: 'oldest' })).toEqual(numbered(4, 45))
  expect(await read(3, 150, { end: 'oldest' })).toEqual(['talk-4', 'talk-5'])
})

it('counts what tools have answered, as far as it is seen', async () => {
  const { read } = await setStage(45, 'x'.repeat(1000))
  expect(await read(45, 20_000)).toEqual(numbered(26, 44))
  expect(await read(45, 20_000, { ofResult: 100 })).toEqual(numbered(1, 44))
})
