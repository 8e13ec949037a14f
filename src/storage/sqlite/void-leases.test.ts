import { expect, test } from 'vitest'
import { byLane } from '#platform/jobs/lanes.ts'
import { findDue, leaseFound } from '#platform/jobs/leasing.ts'
import { openEmbeddedStorage } from '#test/support/embedded-storage.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import type { AgentHandle } from '../agent-databases.ts'
import { wakeLostWork } from '../wake-lost-work.ts'
import { createLeaseVoiding } from './void-leases.ts'

const at = '2026-01-01T00:00:00.000Z'

async function leave({ db }: AgentHandle, holder: string): Promise<void> {
  await db
    .insertInto('conversations')
    .values({
      id: `of ${holder}`,
      title: 'Talk',
      message_count: 0,
      created_at: at,
      lock_token: 7,
      lock_holder: holder,
      lock_expires_at: '2999-01-01T00:00:00.000Z',
    })
    .execute()
  const entry = {
    name: 'work',
    lane: 'documents' as const,
    payload: '{}',
    run_at: at,
    attempts: 0,
    failures: 0,
    created_at: at,
  }
  await db
    .insertInto('outbox')
    .values({ id: `of ${holder}`, ...entry })
    .execute()
  const running = { ids: [], keys: [] }
  const now = Date.parse(at)
  const { due } = await findDue(db, { lane: 'documents', now, limit: 9, running })
  await leaseFound(db, due, { holder, now, expiresAt: Date.parse('2999-01-01') })
}

test('the first opening of a process frees what its predecessor held, and only that', async () => {
  const path = temporaryDirectory()
  const before = await openEmbeddedStorage({ path })
  await before.addAgent('a')
  await before.agentDatabases.use('a', agent => leave(agent, 'predecessor'))
  await before.close()

  const pulled: unknown[] = []
  const wakeUps = byLane(() => ({ pull: async (...pull: unknown[]) => void pulled.push(pull) }))
  const voidLeases = createLeaseVoiding('this process')
  const wake = wakeLostWork(wakeUps)
  const { agentDatabases, addAgent } = await openEmbeddedStorage({
    path,
    onOpen: [voidLeases, wake],
    limit: 1,
  })
  await addAgent('b')
  const holders = () =>
    agentDatabases.use('a', async ({ db }) => {
      const locks = await db.selectFrom('conversations').select(['lock_holder', 'lock_token']).execute()
      const entries = await db.selectFrom('outbox').select('lease_holder').orderBy('id').execute()
      return { locks, entries: entries.map(entry => entry.lease_holder) }
    })
  expect(await holders()).toEqual({ locks: [{ lock_holder: null, lock_token: 7 }], entries: [null] })

  await agentDatabases.use('a', agent => leave(agent, 'this process'))
  const afterwards = {
    locks: [
      { lock_holder: null, lock_token: 7 },
      { lock_holder: 'this process', lock_token: 7 },
    ],
    entries: ['this process', 'this process'],
  }
  await agentDatabases.use('a', ({ agentId, db }) => voidLeases({ agentId, db }))
  expect(await holders()).toEqual(afterwards)
  await agentDatabases.use('a', ({ agentId, db }) => wake({ agentId, db }))
  expect(pulled).toEqual([
    ['a', Date.parse(at)],
    ['a', Date.parse('2999-01-01')],
  ])

  await agentDatabases.use('b', async () => {})
  await agentDatabases.use('a', async () => {})
  expect(pulled).toHaveLength(2)
})
