import type { FastifyRequest } from 'fastify'
import { beforeEach, expect, it, vi } from 'vitest'
import { apiKeyHash, newApiKey } from '#platform/api-key.ts'
import { systemClock } from '#platform/clock.ts'
import { randomIds } from '#platform/ids.ts'
import { createLog } from '#platform/logging/log.ts'
import type { AccessRepository } from '../access.repository.ts'
import { createAccessService } from '../access.service.ts'
import { createKeyIdentification } from './identify-key.ts'
import type { KeyRow, KeysRepository } from './keys.repository.ts'

const key = newApiKey('agent')
const row = {
  id: 'k1',
  agent_id: 'a1',
  creator: 'ada@example.com',
  name: 'CI',
  role: 'viewer',
  hint: key.slice(-4),
  agents: null,
  rate_per_minute: null,
  hash: apiKeyHash(key) ?? '',
  previous_hash: null,
  previous_until: null,
  created_at: '',
  expires_at: null,
  last_used_at: null,
  revoked_at: null,
  monthly_tokens: null,
  monthly_usd: null,
} satisfies KeyRow

const findByHash = vi.fn<KeysRepository['findByHash']>()
const noteUse = vi.fn(async () => {})
const findRole = vi.fn<AccessRepository['findRole']>(async () => ({ role: 'admin' }))

beforeEach(() => {
  vi.clearAllMocks()
  findByHash.mockImplementation(async (hash, agentId) =>
    hash === row.hash ? { row, creatorOn: { agentId, known: { role: 'admin' } } } : undefined,
  )
})

/** Identifies the sender and decides on its permission, as many times; how many queries that took. */
async function queriesOf(isExclusive: boolean, token: string, times: number): Promise<number> {
  const needs = { isExclusive, clock: systemClock, log: createLog('silent') }
  const identification = createKeyIdentification({ ...needs, repository: { findByHash, noteUse } as never })
  const access = createAccessService({
    ...needs,
    ids: randomIds,
    repository: { findRole } as never,
    hasGateway: false,
    people: { isProved: async () => true },
    forgetMore() {},
    roleTakenAway() {},
  })
  for (let time = 0; time < times; time += 1) {
    const headers = { authorization: `Bearer ${token}` }
    const request = { raw: {}, headers, params: { id: 'a1' } } as unknown as FastifyRequest
    const caller = await identification.identify(request)
    if (caller === undefined) throw new Error('The request has no key.')
    expect(await access.permissionOn('a1', { caller, publicAccess: 'read' })).toBe('viewer')
  }
  expect(noteUse).toHaveBeenCalledTimes(1)
  return findByHash.mock.calls.length + findRole.mock.calls.length
}

it.each([
  ['one query each, which finds the role, too, beside other processes', false, 5, 5],
  ['one query for itself and one for the role in all, in a process alone', true, 5, 2],
])('a key costs %s', async (_what, isExclusive, times, queries) => {
  expect(await queriesOf(isExclusive, key, times)).toBe(queries)
})

it.each([true, false])('a key with a wrong checksum costs none (alone: %s)', async isExclusive => {
  await expect(queriesOf(isExclusive, `${key.slice(0, -1)}!`, 1)).rejects.toThrow('no API key')
  expect(findByHash).not.toHaveBeenCalled()
})
