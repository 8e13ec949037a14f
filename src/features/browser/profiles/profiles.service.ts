import { type Clock, timestamp } from '#platform/clock.ts'
import { conflict, notFound } from '#platform/errors.ts'
import type { ListParameters } from '#platform/http/lists/list-query.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentSecrets } from '#storage/encryption/agent-secrets.ts'
import type { BrowserSession, StorageState } from '../sessions/browser-session.ts'
import type { ProfileCopy } from '../sessions/held-sessions.ts'
import { endLostSessions, isProfileInUse } from '../sessions/sessions.repository.ts'
import { collectState, watchOrigins } from './collect-state.ts'
import {
  bounded,
  type Entries,
  entriesOf,
  type KeptState,
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

const maxSize = 5 * 1024 * 1024

/** Max attempts to write a profile that other processes write, too. */
const mostAttempts = 20

interface OpenedCopy extends ProfileCopy {
  state: StorageState
  /** Must be called before the session opens a page: sets the base of its changes. */
  begin(session: BrowserSession): Promise<void>
}

/** Stores the browser data of sites under a name, between sessions. */
export function createProfilesService({ agentSecrets, instanceId, clock }: Dependencies) {
  const turns = new Map<string, Promise<void>>()

  /** Without turns, sessions of this process that end together would each find the profile changed. */
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
      // Another session might have replaced the profile between these two queries.
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

    /** Copies a profile for a session; several sessions can have the profile at a time. */
    async copy(agent: AgentHandle, name: string): Promise<OpenedCopy> {
      const { entries } = await read(agent, name)
      let base = withoutExpired(entries, clock.now())
      const { cookies, origins } = stateOf(base)
      let visited = (): string[] => []
      return {
        name,
        state: { cookies, origins },
        async begin({ context }) {
          // Browsers return cookies in a slightly different form.
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
