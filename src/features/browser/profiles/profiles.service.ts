import type { BrowserContext } from 'playwright-core'
import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import { conflict, notFound } from '#platform/errors.ts'
import type { ListParameters } from '#platform/http/lists/list-query.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentSecrets } from '#storage/encryption/agent-secrets.ts'
import type { StorageState } from '../sessions/browser-session.ts'
import { endLostSessions, isProfileInUse } from '../sessions/sessions.repository.ts'
import { deleteProfile, findProfile, listProfiles, saveProfile } from './profiles.repository.ts'

interface Dependencies {
  agentSecrets: AgentSecrets
  instanceId: string
  clock: Clock
}

const secretName = 'storage state'

/** Bytes. */
const maxSize = 5 * 1024 * 1024

const withoutDatabases =
  'Without IndexedDB: with it, this profile would be larger than the 5 MB that are kept.'

const notSaved = 'Not saved any more: cookies and localStorage are larger than the 5 MB that are kept.'

/** What sites have stored in the browser, kept between sessions under a name. */
export function createProfilesService({ agentSecrets, instanceId, clock }: Dependencies) {
  return {
    list: ({ db }: AgentHandle, query: ListParameters) => listProfiles(db, query),

    /** Undefined for a profile that has not been saved yet. */
    async load({ db, agentId }: AgentHandle, name: string): Promise<StorageState | undefined> {
      const found = await findProfile(db, name)
      const { [secretName]: state } = await agentSecrets.read(agentId, found?.secret_set ?? null)
      return state === undefined ? undefined : (JSON.parse(state) as StorageState)
    },

    async save({ db, agentId }: AgentHandle, name: string, context: BrowserContext): Promise<void> {
      const { state, note } = await stateOf(context)
      const now = timestamp(clock)
      const before = await findProfile(db, name)
      const kept = { secret_set: before?.secret_set ?? null, size: before?.size ?? 0 }
      const fresh =
        state === undefined
          ? kept
          : {
              secret_set: await agentSecrets.write(agentId, { [secretName]: state }),
              size: Buffer.byteLength(state),
            }
      await inTransaction(db, transaction =>
        saveProfile(transaction, { name, note, ...fresh, created_at: now, updated_at: now }),
      )
      if (fresh !== kept) await agentSecrets.remove(agentId, [kept.secret_set])
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

/** As much as may be kept, as JSON, and what a person should know about that. */
async function stateOf(context: BrowserContext): Promise<{ state: string | undefined; note: string | null }> {
  const whole = JSON.stringify(await context.storageState({ indexedDB: true }))
  if (Buffer.byteLength(whole) <= maxSize) return { state: whole, note: null }
  const less = JSON.stringify(await context.storageState())
  return Buffer.byteLength(less) <= maxSize
    ? { state: less, note: withoutDatabases }
    : { state: undefined, note: notSaved }
}
