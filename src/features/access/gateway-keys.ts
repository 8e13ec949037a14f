import type { JWTVerifyGetKey } from 'jose'
import type { Clock } from '#platform/clock.ts'

/** Enough for tokens of a new key to be known at once, and too few to trouble the gateway with made-up key ids. */
const mostLooks = 5
const lookWindowMs = 5000

/** Finds the published key that a token names, and looks at the gateway's keys anew where it is not among those known. */
export function createKeyFinder(
  { createRemoteJWKSet, errors }: typeof import('jose'),
  url: URL,
  clock: Clock,
): JWTVerifyGetKey {
  // Its own cooldown would refuse all tokens of a new key for as long as it lasts.
  const keys = createRemoteJWKSet(url, { timeoutDuration: 5000, cooldownDuration: Infinity })
  let looks: number[] = []

  function mayLook(): boolean {
    looks = looks.filter(at => at > clock.now() - lookWindowMs)
    if (looks.length >= mostLooks) return false
    looks.push(clock.now())
    return true
  }

  return async (header, token) => {
    try {
      return await keys(header, token)
    } catch (error) {
      // A look that is under way serves all who wait for a key.
      const isUnknown = error instanceof errors.JWKSNoMatchingKey
      if (!isUnknown || !(keys.reloading || mayLook())) throw error
      await keys.reload()
      return keys(header, token)
    }
  }
}
