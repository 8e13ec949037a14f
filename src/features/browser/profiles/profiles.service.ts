import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import { conflict, notFound } from '#platform/errors.ts'
import type { ListParameters } from '#platform/http/lists/list-query.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentSecrets } from '#storage/encryption/agent-secrets.ts'
import type { BrowserSession, StorageState } from '../sessions/browser-session.ts'
import type { ProfileCopy } from '../sessions/held-sessions.ts'
import { endLostSessions, isProfileInUse } from '../sessions/sessions.repository.ts'
import { collectState, watchOrigins } from './collect-state.ts'
import type { Entries, KeptState } from './profile-entries.ts'
import {
  bounded,
  entriesOf,
  merged,
  noteOn,
  stateOf,
  withCookies,
  withoutExpired,
} from './profile-entries.ts'
import { deleteProfile, findProfile, listProfiles, replaceProfile } from './profiles.repository.ts'

interface Dependencies {
  agentSecrets: AgentSecrets
  instanceId: string
  clock: Clock
}

const secretName = 'storage state'

/** Bytes. */
const maxSize = 5 * 1024 * 1024

/** How often it is tried to write a profile that other processes write, too. */
const mostAttempts = 20

interface OpenedCopy extends ProfileCopy {
  state: StorageState
  /** To be called before the session opens a page: what it has then is what it has not changed. */
  begin(session: BrowserSession): Promise<void>
}

/** What sites have stored in the browser, kept between sessions under a name. */
export function createProfilesService({ agentSecrets, instanceId, clock }: Dependencies) {
  const turns = new Map<string, Promise<void>>()

  /** Sessions of this process that end together would each find the profile changed by another. */
  async function inTurn(key: string, work: () => Promise<void>): Promise<void> {
    const turn = (turns.get(key) ?? Promise.resolve()).then(work)
    const done = turn.catch(() => {})
    turns.set(key, done)
    await turn.finally(() => turns.get(key) === done && turns.delete(key))
  }

  async function read({ db, agentId }: AgentHandle, name: string) {
    for (let attempt = 0; ; attempt += 1) {
      const row = await findProfile(db, name)
      const { [secretName]: state } = await agentSecrets.read(agentId, row?.secret_set ?? null)
      if (state !== undefined) return { row, entries: entriesOf(JSON.parse(state) as KeptState) }
      // Another session may have replaced it between these two queries.
      const isReplaced = row !== undefined && row.secret_set !== null && attempt < mostAttempts
      if (!isReplaced) return { row, entries: new Map() }
    }
  }

  async function write(agent: AgentHandle, name: string, base: Entries, mine: Entries): Promise<void> {
    const { db, agentId } = agent
    for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
      const now = timestamp(clock)
      const { row, entries } = await read(agent, name)
      const all = bounded(merged(base, mine, withoutExpired(entries, clock.now())), maxSize)
      const state = JSON.stringify(stateOf(all))
      const secret_set = await agentSecrets.write(agentId, { [secretName]: state })
      const size = Buffer.byteLength(state)
      const fresh = { name, secret_set, size, note: noteOn(all), created_at: now, updated_at: now }
      const isWritten = await inTransaction(db, transaction => replaceProfile(transaction, fresh, row))
      await agentSecrets.remove(agentId, [isWritten ? (row?.secret_set ?? null) : secret_set])
      if (isWritten) return
    }
    throw new Error('Other sessions wrote the profile at the same time, again and again.')
  }

  return {
    list: ({ db }: AgentHandle, query: ListParameters) => listProfiles(db, query),

    /** For one session, which may be one of several that have the profile at a time. */
    async copy(agent: AgentHandle, name: string): Promise<OpenedCopy> {
      const { entries } = await read(agent, name)
      let base = withoutExpired(entries, clock.now())
      const { cookies, origins } = stateOf(base)
      let visited = (): string[] => []
      return {
        name,
        state: { cookies, origins },
        async begin({ context }) {
          // Browsers do not give cookies back exactly as they were set.
          base = withCookies(base, await context.cookies())
          visited = watchOrigins(context)
        },
        async save(session) {
          const mine = await collectState(session, { origins: visited(), base, maxBytes: maxSize })
          const since = withoutExpired(base, clock.now())
          await inTurn(`${agent.agentId} ${name}`, () => write(agent, name, since, mine))
          base = mine
        },
      }
    },

    async remove({ db, agentId }: AgentHandle, name: string): Promise<void> {
      const found = await findProfile(db, name)
      if (found === undefined) throw notFound('Profile')
      await inTransaction(db, async transaction => {
        await endLostSessions(transaction, instanceId, timestamp(clock))
        if (await isProfileInUse(transaction, name))
          throw conflict(
            `A session has the profile "${name}" and would save it again. End that session first.`,
          )
        await deleteProfile(transaction, name)
      })
      await agentSecrets.remove(agentId, [found.secret_set])
    },
  }
}

export type ProfilesService = ReturnType<typeof createProfilesService>
