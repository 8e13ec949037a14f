import { describe, expect, it, onTestFinished } from 'vitest'
import { randomIds } from '#platform/ids.ts'
import { createLeaseVoiding } from '#storage/sqlite/void-leases.ts'
import { openEmbeddedStorage } from '#test/support/embedded-storage.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import { createAnswerStore } from './answering/answer-store.ts'
import type { Question } from './answering/question.ts'
import type { ChatMessage } from './chat.schema.ts'
import { createConversationLock } from './conversations/conversation-lock.ts'
import { insertConversation } from './rows/conversations.repository.ts'
import { findMessage, insertMessage } from './rows/messages.repository.ts'

const time = '2026-01-01T00:00:00.000Z'
const leaseMs = 45_000
const locked = { code: 'CONVERSATION_LOCKED' }

/** An agent with the conversation `talk`, and two processes that want to answer in it. */
async function setStage() {
  const clock = manualClock()
  const storage = await openEmbeddedStorage()
  await storage.addAgent('a')
  const agent = await storage.agentDatabases.acquire('a')
  onTestFinished(() => agent.release())
  await insertConversation(agent.db, { id: 'talk', title: 'Talk', messageCount: 0, createdAt: time })
  return {
    clock,
    agent,
    db: agent.db,
    first: createConversationLock({ clock, holder: 'first', leaseMs }),
    second: createConversationLock({ clock, holder: 'second', leaseMs }),
  }
}

describe('the lock of a conversation', () => {
  it('is held by one, whoever asks', async () => {
    const { db, first, second } = await setStage()
    const lock = await first.acquire(db, 'talk')
    await expect(first.acquire(db, 'talk')).rejects.toMatchObject(locked)
    await expect(second.acquire(db, 'talk')).rejects.toMatchObject(locked)
    expect(await first.release(db, lock)).toBe(true)
    await expect(second.acquire(db, 'talk')).resolves.toMatchObject({ conversationId: 'talk' })
  })

  it('is lost for good to a change that came after the end of its lease', async () => {
    const { clock, db, first, second } = await setStage()
    const lock = await first.acquire(db, 'talk')
    clock.advance(leaseMs + 1)
    await second.requireUnlocked(db, 'talk')
    expect(await first.renew(db, lock)).toBe(false)
    expect(await first.release(db, lock)).toBe(false)
    await expect(second.acquire(db, 'talk')).resolves.toMatchObject({ conversationId: 'talk' })
  })

  it('is taken for good from a holder whose turn has ended, unless another has it by then', async () => {
    const { db, first, second } = await setStage()
    const lock = await first.acquire(db, 'talk')
    await second.revoke(db, lock)
    expect(await first.renew(db, lock)).toBe(false)
    expect(await first.park(db, lock, undefined)).toBe(false)
    const next = await second.acquire(db, 'talk')
    await first.revoke(db, lock)
    expect(await second.renew(db, next)).toBe(true)
  })

  it('of no conversation can’t be had', async () => {
    const { db, first } = await setStage()
    await expect(first.acquire(db, 'other')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(first.requireUnlocked(db, 'other')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('keeps changes of others out, of the one conversation and of all', async () => {
    const { db, first, second } = await setStage()
    await insertConversation(db, { id: 'other', title: 'Other', messageCount: 0, createdAt: time })
    const lock = await first.acquire(db, 'talk')
    await expect(second.requireUnlocked(db, 'talk')).rejects.toMatchObject(locked)
    await expect(second.requireUnlocked(db)).rejects.toMatchObject(locked)
    await second.requireUnlocked(db, 'other')
    await first.release(db, lock)
    await second.requireUnlocked(db)
  })

  it('lasts as long as it is renewed', async () => {
    const { clock, db, first, second } = await setStage()
    const lock = await first.acquire(db, 'talk')
    for (let renewal = 0; renewal < 4; renewal += 1) {
      clock.advance(44_000)
      await expect(second.acquire(db, 'talk')).rejects.toMatchObject(locked)
      expect(await first.renew(db, lock)).toBe(true)
    }
  })

  it('is free again within a minute of its holder’s death', async () => {
    const { clock, db, first, second } = await setStage()
    await first.acquire(db, 'talk')
    clock.advance(59_000)
    await second.requireUnlocked(db)
    await expect(second.acquire(db, 'talk')).resolves.toMatchObject({ token: 3 })
  })

  it('is free at once for the process that follows a dead one', async () => {
    const path = temporaryDirectory()
    const clock = manualClock()
    const before = await openEmbeddedStorage({ path })
    await before.addAgent('a')
    await before.agentDatabases.use('a', async ({ db }) => {
      await insertConversation(db, { id: 'talk', title: 'Talk', messageCount: 0, createdAt: time })
      await createConversationLock({ clock, holder: 'first', leaseMs }).acquire(db, 'talk')
    })
    await before.close()
    const onOpen = [createLeaseVoiding('second')]
    const after = await openEmbeddedStorage({ path, onOpen })
    await after.agentDatabases.use('a', ({ db }) =>
      createConversationLock({ clock, holder: 'second', leaseMs }).acquire(db, 'talk'),
    )
  })

  it('once lost is neither renewed nor released, though the conversation is free', async () => {
    const { clock, db, first, second } = await setStage()
    const lost = await first.acquire(db, 'talk')
    clock.advance(60_000)
    const lock = await second.acquire(db, 'talk')
    expect(await first.renew(db, lost)).toBe(false)
    expect(await first.release(db, lost)).toBe(false)
    await expect(first.acquire(db, 'talk')).rejects.toMatchObject(locked)
    await second.release(db, lock)
    expect(await first.renew(db, lost)).toBe(false)
  })
})

describe('an answer', () => {
  function message(id: string, content: string): ChatMessage {
    return {
      id,
      role: id.startsWith('q') ? 'user' : 'assistant',
      content,
      conversationId: 'talk',
      toolCalls: null,
      toolResults: null,
      createdAt: time,
    }
  }

  async function setAnswerStage() {
    const stage = await setStage()
    const { agent, db } = stage
    const asked = message('q1', 'question')
    const userMessage = { ...asked, sequence: await insertMessage(db, asked) }
    const outbox = {
      add: async () => true,
      emit: async () => {},
      cancel: async () => false,
      runNow: async () => {},
    }
    const storeOf = (lock: typeof stage.first) =>
      createAnswerStore({
        lock,
        transact: ({ db: own }, work) =>
          own.transaction().execute(transaction => work(transaction as never, outbox)),
      })
    const questionOf = (lock: Question['lock']): Question => ({
      agent,
      lock,
      userMessage,
      asker: { isOutsider: false, author: 'anonymous', reach: 'all' },
      model: 'fake-model',
      approvalTimeout: 60,
      turnId: 'a1',
      turn: () => Promise.reject(new Error('not run here')),
    })
    const contents = () => db.selectFrom('messages').select(['id', 'content']).orderBy('sequence').execute()
    return { ...stage, storeOf, questionOf, contents }
  }

  it('is stored as it comes to be, as one message, in place of what followed the question', async () => {
    const { db, first, storeOf, questionOf, contents } = await setAnswerStage()
    await insertMessage(db, message('a1', 'old answer'))
    await insertMessage(db, message('q2', 'old question'))
    const question = questionOf(await first.acquire(db, 'talk'))
    const store = storeOf(first)
    expect(await store.checkpoint(question, undefined)).toBe(true)
    expect(await contents()).toHaveLength(3)
    expect(await store.checkpoint(question, message('a2', 'new'))).toBe(true)
    expect(await store.checkpoint(question, message('a2', 'new answer'))).toBe(true)
    expect(await contents()).toEqual([
      { id: 'q1', content: 'question' },
      { id: 'a2', content: 'new answer' },
    ])
    expect(await store.finish(question, message('a2', 'new answer.'))).toBe(true)
    expect((await findMessage(db, 'a2'))?.content).toBe('new answer.')
    await first.requireUnlocked(db)
  })

  it('is not written by whoever has lost the lock', async () => {
    const { clock, db, first, second, storeOf, questionOf, contents } = await setAnswerStage()
    const late = questionOf(await first.acquire(db, 'talk'))
    await storeOf(first).checkpoint(late, message('a1', 'first'))
    clock.advance(60_000)
    const question = questionOf(await second.acquire(db, 'talk'))
    await storeOf(second).checkpoint(question, message('a2', 'second'))
    expect(await storeOf(first).checkpoint(late, message('a1', 'late'))).toBe(false)
    expect(await storeOf(first).finish(late, message('a1', 'later'))).toBe(false)
    expect(await contents()).toEqual([
      { id: 'q1', content: 'question' },
      { id: 'a2', content: 'second' },
    ])
    await expect(first.acquire(db, 'talk')).rejects.toMatchObject(locked)
  })

  it('is stored and told of together, or not at all', async () => {
    const { db, first, questionOf, contents } = await setAnswerStage()
    const question = questionOf(await first.acquire(db, 'talk'))
    const store = createAnswerStore({
      lock: first,
      transact: ({ db: own }, work) =>
        own.transaction().execute(transaction =>
          work(transaction as never, {
            add: async () => true,
            emit: () => Promise.reject(new Error('no room')),
            cancel: async () => false,
            runNow: async () => {},
          }),
        ),
    })
    await expect(store.finish(question, message(randomIds.record(), 'x'))).rejects.toThrow('no room')
    expect(await contents()).toHaveLength(1)
    await expect(first.requireUnlocked(db)).rejects.toMatchObject(locked)
  })
})
