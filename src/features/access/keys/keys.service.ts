import { apiKeyHash, apiKeyHint, newApiKey } from '#platform/api-key.ts'
import { type Clock, timestamp } from '#platform/clock.ts'
import { describeChange } from '#platform/current-change.ts'
import { AccessDenied, AppError, conflict, invalid, required } from '#platform/errors.ts'
import type { ListParameters } from '#platform/http/lists/list-query.ts'
import type { Ids } from '#platform/ids.ts'
import { readTime } from '#platform/time/written-time.ts'
import type { AccessService, Asked } from '../access.service.ts'
import type { KeyIdentification } from './identify-key.ts'
import { isRaised } from './is-raised.ts'
import type { KeyRow, KeyScope, KeysRepository } from './keys.repository.ts'
import type { Key, KeyChanges, NewKey } from './keys.schema.ts'

/** Max keys of an agent, or of a person. */
const maxKeys = 100
/** Time for which a revoked key is still recognized as revoked. */
const revokedKnownMs = 30 * 24 * 3_600_000

interface Dependencies {
  repository: KeysRepository
  identification: KeyIdentification
  access: Pick<AccessService, 'permissionOn'>
  /** Called when requests with a key might have to end: on one agent, or on all. */
  rightsLost(agentId?: string): void
  clock: Clock
  ids: Ids
}

/** The owner of the keys, and the caller. */
export interface KeyOwner {
  scope: KeyScope
  by: Asked
}

export function createKeysService({
  repository,
  identification,
  access,
  rightsLost,
  clock,
  ids,
}: Dependencies) {
  const find = async (scope: KeyScope, id: string) => required(await repository.find(scope, id), 'API key')

  /** Returns the columns for a body. Throws VALIDATION_ERROR for an end in the past, or an agent that the caller can't reach. */
  async function columnsOf(changes: KeyChanges, by: Asked, former?: KeyRow) {
    const { name, role, rate_per_minute, expires_at, agents, monthly_tokens, monthly_usd } = changes
    await requireReach(access, agents ?? [], by)
    const columns = {
      ...(name !== undefined && { name }),
      ...(rate_per_minute !== undefined && { rate_per_minute }),
      ...(monthly_tokens !== undefined && { monthly_tokens }),
      ...(monthly_usd !== undefined && { monthly_usd }),
      ...(role !== undefined && { role }),
      ...(expires_at !== undefined && { expires_at: expires_at && endOf(expires_at, former, clock) }),
      ...(agents !== undefined && { agents: agents && JSON.stringify(agents) }),
    }
    describeChange(columns)
    return columns
  }

  async function change(row: KeyRow, changesOf: (now: KeyRow) => Partial<KeyRow>): Promise<KeyRow> {
    const changed = await repository.change(row, changesOf).finally(identification.forget)
    if (changed === undefined) throw conflict('This API key has just been revoked or rotated. Read it again.')
    return changed
  }

  return {
    async list({ scope }: KeyOwner, parameters: ListParameters) {
      const page = await repository.list(scope, parameters)
      return { ...page, rows: page.rows.map(row => toKey(row, clock)) }
    },

    get: async ({ scope }: KeyOwner, id: string) => toKey(await find(scope, id), clock),

    async create({ scope, by }: KeyOwner, input: NewKey) {
      const agent_id = 'agentId' in scope ? scope.agentId : null
      const { key, ...secret } = secretFor(agent_id)
      const row: KeyRow = {
        ...{ role: null, agents: null, rate_per_minute: null, expires_at: null },
        ...{ monthly_tokens: null, monthly_usd: null },
        ...{ previous_hash: null, previous_until: null, last_used_at: null, revoked_at: null },
        ...{ id: ids.record(), agent_id, creator: creatorOf(by), created_at: timestamp(clock), ...secret },
        name: input.name,
        ...(await columnsOf(input, by)),
      }
      const forgottenAt = new Date(clock.now() - revokedKnownMs).toISOString()
      if (!(await repository.insert(scope, row, { most: maxKeys, forgottenAt })))
        throw conflict(`There are at most ${maxKeys} API keys. Delete one first.`)
      identification.noteLimit(row.hash, row)
      return { ...toKey(row, clock), key }
    },

    /** The person who raises the key's rights becomes responsible for it. */
    async update({ scope, by }: KeyOwner, id: string, changes: KeyChanges): Promise<Key> {
      const row = await find(scope, id)
      const columns = await columnsOf(changes, by, row)
      const changed = await change(row, now => ({ ...columns, ...creatorAfter(now, columns, by) }))
      identification.noteLimit(changed.hash, changed)
      rightsLost(row.agent_id ?? undefined)
      return toKey(changed, clock)
    },

    /** Makes the person who rotates the key its owner, because that person has the new secret. */
    async rotate({ scope, by }: KeyOwner, id: string, overlapHours: number) {
      const row = await find(scope, id)
      const creator = creatorOf(by)
      requireOwnOverlap(row, creator, overlapHours)
      const { key, ...secret } = secretFor(row.agent_id)
      const previous_until = new Date(clock.now() + overlapHours * 3_600_000).toISOString()
      const former = { previous_hash: row.hash, previous_until }
      const rotated = await change(row, () => ({ ...secret, ...former, creator }))
      identification.noteLimit(rotated.hash, rotated)
      rightsLost(row.agent_id ?? undefined)
      return { ...toKey(rotated, clock), key }
    },

    async revoke({ scope }: KeyOwner, id: string): Promise<void> {
      const row = await find(scope, id)
      if (row.revoked_at === null) await change(row, () => ({ revoked_at: timestamp(clock) }))
      rightsLost(row.agent_id ?? undefined)
    },
  }
}

export type KeysService = ReturnType<typeof createKeysService>

/** Returns the key's end. An unchanged end can be in the past. */
function endOf(text: string, former: KeyRow | undefined, clock: Clock): string {
  const end = readTime('expires_at', text, {})
  const expires = new Date(end).toISOString()
  if (end <= clock.now() && expires !== former?.expires_at)
    throw invalid('expires_at', 'must be in the future; delete a key that is to end now')
  return expires
}

function secretFor(agent_id: string | null) {
  const key = newApiKey(agent_id === null ? 'personal' : 'agent')
  return { key, hash: apiKeyHash(key) ?? '', hint: apiKeyHint(key) }
}

/** Checks the overlap: the holder of another person's key might have lost the rights that `creator` still has. */
function requireOwnOverlap(row: KeyRow, creator: string, hours: number): void {
  if (hours > 0 && creator !== row.creator)
    throw invalid(
      'overlap_hours',
      `must be 0: with it, the former key of ${row.creator} would get your rights`,
    )
}

/** Returns the person whose rights limit the key after a change, if the change makes that another person. */
function creatorAfter(now: KeyRow, columns: Partial<KeyRow>, by: Asked): { creator?: string } {
  if (!isRaised(now, { ...now, ...columns })) return {}
  const creator = creatorOf(by)
  if (creator === now.creator) return {}
  describeChange({ creator: { from: now.creator, to: creator } })
  return { creator }
}

/** Returns the user who makes a key. A key outlives a public setting, so callers without a user make none. */
function creatorOf({ caller: { user } }: Asked): string {
  if (user !== undefined) return user.email
  throw new AccessDenied(
    'Access denied: API keys are made by people. Sign in, or set DEV_USER while developing.',
  )
}

function toKey({ agents, ...row }: KeyRow, clock: Clock): Key {
  const isExpired = row.expires_at !== null && row.expires_at <= timestamp(clock)
  const ended = isExpired ? 'expired' : 'active'
  return {
    ...row,
    agents: agents === null ? null : JSON.parse(agents),
    state: row.revoked_at === null ? ended : 'revoked',
  }
}

async function requireReach(
  access: Dependencies['access'],
  agents: readonly string[],
  by: Asked,
): Promise<void> {
  for (const id of agents)
    try {
      await access.permissionOn(id, by)
    } catch (error) {
      if (error instanceof AccessDenied || error instanceof AppError)
        throw invalid('agents', `"${id}" is no agent that you can reach`)
      throw error
    }
}
