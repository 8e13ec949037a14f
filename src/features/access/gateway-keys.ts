import type { JWTVerifyGetKey } from 'jose'
import type { Clock } from '#platform/clock.ts'

/** Enough for tokens of a new key to be known at once, and too few to trouble the gateway with made-up key ids. */
const maxLooks = 5
const lookWindowMs = 5000
/** How long keys count without a new look at what the gateway publishes: it may have withdrawn one that was stolen. */
const keysLastMs = 5 * 60_000

/** Finds the published key that a token names, and looks at the gateway's keys anew where it is not among those known. */
export function createKeyFinder(
  { createRemoteJWKSet, errors }: typeof import('jose'),
  url: URL,
  clock: Clock,
): { find: JWTVerifyGetKey; until(): number } {
  // Its own cooldown would refuse all tokens of a new key for as long as it lasts.
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

  /** A look that is under way serves all who wait for a key. */
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
    /** When the gateway may no longer publish the keys that are known: milliseconds since the Unix epoch. */
    until: () => until,
  }
}
