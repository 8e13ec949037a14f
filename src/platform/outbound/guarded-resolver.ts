import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { AppError } from '../errors.ts'
import type { AddressPolicy } from './address-policy.ts'

/** Returns all addresses of a host name, like `dns.lookup` with `all`; rejects if there are none. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>

/**
 * Resolves a host name or an IP address, and returns at least one address that the policy permits. Connect to
 * these and to nothing else: a second look-up can give a different answer (DNS rebinding). Rejects with
 * OUTBOUND_REFUSED if none is left; the message does not reveal the name's addresses.
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
