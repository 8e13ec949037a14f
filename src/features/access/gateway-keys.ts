import type { JWTVerifyGetKey } from 'jose'
import type { Clock } from '#platform/clock.ts'

/** Max fetches per window: enough for tokens of a new key, and few enough to protect the gateway from made-up key ids. */
const maxLooks = 5
const lookWindowMs = 5000
/** Max age of the published keys: the gateway might have withdrawn a stolen one. */
const keysLastMs = 5 * 60_000

/** Finds the published key that a token names. Fetches the gateway's keys again if the key is unknown. */
export function createKeyFinder(
  { createRemoteJWKSet, errors }: typeof import('jose'),
  url: URL,
  clock: Clock,
): { find: JWTVerifyGetKey; until(): number } {
  // The default cooldown would refuse all tokens of a new key while it lasts.
  const onDemand = { cooldownDuration: Infinity, cacheMaxAge: Infinity }
  const keys = createRemoteJWKSet(url, { timeoutDuration: 5000, ...onDemand })
  let until = 0
  let looks: number[] = []

  function mayLook(): boolean {
    looks = looks.filter(at => at > clock.now() - lookWindowMs)
    if (looks.length >= maxLooks) return false
    looks.push(clock.now())
    return true
  }

  /** Fetches the keys. Concurrent callers share one fetch. */
  async function look(): Promise<void> {
    const begun = clock.now()
    const isUnderWay = keys.reloading
    await keys.reload()
    if (!isUnderWay) until = begun + keysLastMs
  }

  return {
    async find(header, token) {
      if (until <= clock.now()) await look()
      try {
        return await keys(header, token)
      } catch (error) {
        const isUnknown = error instanceof errors.JWKSNoMatchingKey
        if (!isUnknown || !(keys.reloading || mayLook())) throw error
        await look()
        return keys(header, token)
      }
    },
    /** Time at which the known keys must be fetched again: milliseconds since the Unix epoch. */
    until: () => until,
  }
}
