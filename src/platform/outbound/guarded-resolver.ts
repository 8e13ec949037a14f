import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { AppError } from '../errors.ts'
import type { AddressPolicy } from './address-policy.ts'

/** All addresses of a host name, as `dns.lookup` with `all` gives them; rejects if there are none. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>

/**
 * Resolves a host name, or takes an IP address as it is, and keeps what the policy permits: at least one address.
 * Connect to these and to nothing else: a second look-up may give a different answer (DNS rebinding).
 * Rejects with OUTBOUND_REFUSED when nothing is left; the message does not say what the name resolved to.
 */
export function createGuardedResolver(options: { policy: AddressPolicy; resolve: Resolve }): Resolve {
  const { policy, resolve } = options
  return async hostname => {
    const family = isIP(hostname)
    const addresses = family === 0 ? await resolve(hostname) : [{ address: hostname, family }]
    const permitted = addresses.filter(({ address }) => policy.permits(address, hostname))
    if (permitted.length > 0) return permitted
    throw new AppError(
      'OUTBOUND_REFUSED',
      `${hostname} cannot be reached: private, loopback, link-local and metadata addresses are refused unless OUTBOUND_ALLOW names them.`,
    )
  }
}
