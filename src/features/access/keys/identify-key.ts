import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { apiKeyHash, isApiKey } from '#platform/api-key.ts'
import { type Clock, timestamp } from '#platform/clock.ts'
import { AppError } from '#platform/errors.ts'
import type { OwnLimit } from '#platform/http/rate-limits/rate-limit.ts'
import { unstorable } from '#platform/http/requests/storable-text.ts'
import type { Log } from '#platform/logging/log.ts'
import type { Caller, CallerKey } from '../caller.ts'
import { isRole } from '../policy.ts'
import { readAnew, remember } from '../role-memory.ts'
import type { FoundKey, KeyRow, KeysRepository } from './keys.repository.ts'

const keysRemembered = 5000
/** RFC 6750, section 2.1. */
const bearer = /^Bearer +(.*)$/i
/** Interval at which uses of a key are stored, in milliseconds. */
const noteEveryMs = 60_000

interface Dependencies {
  repository: KeysRepository
  /** True if no other process changes keys, so that they can be cached. */
  isExclusive: boolean
  clock: Clock
  log: Log
}

/** Identifies callers by their API keys. */
export function createKeyIdentification({ repository, isExclusive, clock, log }: Dependencies) {
  const alone = async (hash: string) => {
    const found = await repository.findByHash(hash, '')
    return found && { row: found.row }
  }
  const known = isExclusive ? remember(alone) : readAnew(repository.findByHash)
  /** The rate limits of keys seen by this process: an estimate before the key is read. */
  const limits = new LRUCache<string, OwnLimit>({ max: keysRemembered })
  const noted = new LRUCache<string, number>({ max: keysRemembered })
  const hashes = new WeakMap<FastifyRequest['raw'], string>()
  const notes = new Set<Promise<void>>()

  /** Returns the hash of the key in the request. Throws UNAUTHORIZED for a text that can't be a key. */
  function hashIn({ headers, raw }: FastifyRequest): string | undefined {
    const [, token] = bearer.exec(headers.authorization ?? '') ?? []
    if (token === undefined || !isApiKey(token)) return undefined
    const hash = hashes.get(raw) ?? apiKeyHash(token)
    if (hash === undefined) throw refused('wrong')
    hashes.set(raw, hash)
    return hash
  }

  function noteLimit(hash: string, { id, rate_per_minute: points }: KeyRow): void {
    if (points === null) limits.delete(hash)
    else limits.set(hash, { client: id, points })
  }

  function noteUse({ id, last_used_at }: KeyRow): void {
    const now = clock.now()
    const before = now - noteEveryMs
    if (Math.max(noted.get(id) ?? 0, Date.parse(last_used_at ?? '') || 0) > before) return
    noted.set(id, now)
    const note = repository
      .noteUse(id, timestamp(clock), new Date(before).toISOString())
      .catch(error => log.warn({ err: error, keyId: id }, 'the use of an API key could not be noted'))
      .finally(() => notes.delete(note))
    notes.add(note)
  }

  function callerBy(found: Pick<FoundKey, 'row'> & Partial<FoundKey>, hash: string): Caller {
    const { row, creatorOn } = found
    const now = timestamp(clock)
    if (row.revoked_at !== null) throw refused('revoked')
    if (row.hash !== hash && (row.previous_until ?? '') <= now) throw refused('replaced')
    if (row.expires_at !== null && row.expires_at <= now) throw refused('expired')
    noteLimit(hash, row)
    noteUse(row)
    const user = row.agent_id === null ? { email: row.creator, name: undefined } : undefined
    return { user, via: 'key', key: { ...keyOf(row), ...(creatorOn && { creatorOn }) } }
  }

  return {
    identify(request: FastifyRequest): Caller | undefined | Promise<Caller> {
      const hash = hashIn(request)
      if (hash === undefined) return undefined
      const { id: agentId = '' } = Object(request.params) as { id?: string }
      const found = known.find(hash, isExclusive || unstorable(agentId) !== undefined ? '' : agentId)
      const judge = (one: typeof found extends infer One ? Awaited<One> : never) => {
        if (one === undefined) throw refused('wrong')
        return callerBy(one, hash)
      }
      return found instanceof Promise ? found.then(judge) : judge(found)
    },

    /** Returns the caller of a known key, for work that outlives the request. Throws UNAUTHORIZED as `identify` does. */
    async identifyAgain(id: string): Promise<Caller> {
      const row = await repository.findById(id)
      if (row === undefined) throw refused('revoked')
      return callerBy({ row }, row.hash)
    },

    /** Returns the rate limit of the request's key if it has one of its own. */
    limitOf(request: FastifyRequest): OwnLimit | undefined {
      if (limits.size === 0) return undefined
      const [, token] = bearer.exec(request.headers.authorization ?? '') ?? []
      return limits.get(apiKeyHash(token ?? '') ?? '')
    },

    noteLimit,
    /** Called when a key was changed, before the change is reported. */
    forget: () => known.forget(),
    /** Resolves once all uses are stored. */
    settled: async () => void (await Promise.all(notes)),
  }
}

export type KeyIdentification = ReturnType<typeof createKeyIdentification>

function keyOf({ id, name, creator, role, agent_id, agents }: KeyRow): CallerKey {
  const personal = agents === null ? undefined : (JSON.parse(agents) as string[])
  return {
    id,
    name,
    creator,
    role: isRole(role) ? role : undefined,
    agents: agent_id === null ? personal : [agent_id],
  }
}

/** Reasons why a key is invalid, sent as `details.reason`. */
const refusals = {
  wrong: 'This is no API key of this service. Check that it was copied whole, or make another one.',
  expired: 'This API key has expired. Make another one, or change its expires_at.',
  revoked: 'This API key was revoked. Make another one.',
  replaced: 'This API key was replaced by a rotation. Use the new one.',
}

function refused(how: keyof typeof refusals): AppError {
  const reason = how === 'replaced' ? 'revoked' : how
  return new AppError('UNAUTHORIZED', refusals[how], { details: { reason } })
}
