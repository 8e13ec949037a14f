import ipaddr from 'ipaddr.js'

/** Returns true if an address or name of a host means this machine alone. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase()
  if (bare === 'localhost') return true
  return ipaddr.isValid(bare) && ipaddr.process(bare).range() === 'loopback'
}
