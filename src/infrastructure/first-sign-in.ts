import type { Kysely } from 'kysely'
import type { Configuration } from '#configuration/configuration.ts'
import { type Clock, timestamp } from '#platform/clock.ts'
import { firstSignInFact } from '#storage/tables/facts.ts'
import type { PlatformTables } from '#storage/tables.ts'

const name = firstSignInFact

/**
 * Returns the configuration in force once a person has signed in by a link or an identity provider. Callers without a user then
 * only read and chat on `default`, unless the operator sets `PUBLIC_ACCESS` or another way to know people.
 */
export function afterSignIn(configuration: Configuration): Configuration {
  const { publicAccess, gateway, devUser } = configuration
  const isClosed = publicAccess === undefined && gateway === undefined && devUser === undefined
  return isClosed ? { ...configuration, publicAccess: 'chat' } : configuration
}

/** Whether a person has ever signed in. Roles on `default` prove it too, and move with the agent: none comes from anywhere else. */
export async function hasSignedIn(platform: Kysely<PlatformTables>): Promise<boolean> {
  const facts = platform.selectFrom('platform_facts').select('name').where('name', '=', name)
  const roles = platform.selectFrom('agent_admins').select('id as name').where('agent_id', '=', 'default')
  return (await facts.unionAll(roles).limit(1).execute()).length > 0
}

interface Dependencies {
  configuration: Configuration
  platform: Kysely<PlatformTables>
  /** Whether no other process notes sign-ins. */
  isExclusive: boolean
  clock: Clock
}

/** Remembers the first sign-in for good. Processes that share a database ask it until it has happened. */
export function createFirstSignIn({ configuration, platform, isExclusive, clock }: Dependencies) {
  const after = afterSignIn(configuration)
  let hasHappened = false
  let isRead = false

  async function read(): Promise<Configuration> {
    const found = await hasSignedIn(platform)
    hasHappened ||= found
    isRead = true
    return hasHappened ? after : configuration
  }

  return {
    after,

    /** The configuration in force: `after` from the first sign-in on. */
    inForce(): Configuration | Promise<Configuration> {
      if (hasHappened || after === configuration) return after
      return isExclusive && isRead ? configuration : read()
    },

    /** To be called before a session begins. Returns whether it is the first that this process knows of. */
    async note(): Promise<boolean> {
      if (hasHappened) return false
      await platform
        .insertInto('platform_facts')
        .values({ name, value: timestamp(clock) })
        .onConflict(conflict => conflict.column('name').doNothing())
        .execute()
      hasHappened = true
      return true
    },
  }
}
