import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { Configuration } from '#configuration/configuration.ts'
import { isLoopback } from '#platform/network.ts'

/** Returns the host of an address; empty without one. */
export function hostOf(address: string | undefined): string {
  return URL.parse(address ?? '')?.hostname ?? ''
}

/** True if programs beyond this machine can reach the service: directly, or by a proxy in front of it. */
export function isExposed({ host, baseUrl }: Configuration): boolean {
  return !isLoopback(host) || isProxied({ baseUrl })
}

/** True if the public address is another machine's, so that there must be a proxy. */
export function isProxied({ baseUrl }: Pick<Configuration, 'baseUrl'>): boolean {
  return baseUrl !== undefined && !isLoopback(hostOf(baseUrl))
}

/** True if other people can sign in: at a gateway, at a provider, or by links and invitations where they reach the service. */
export function peopleSignIn(configuration: Configuration): boolean {
  return configuration.gateway !== undefined || configuration.oidc !== undefined || isExposed(configuration)
}

/** True if clear text to this address crosses networks of others. */
export function isReadOnTheWay(address: string | undefined): boolean {
  const host = hostOf(address).replace(/^\[|\]$/g, '')
  // A name without a dot is in the local network, such as that of another container.
  if (isIP(host) === 0)
    return host.includes('.') && !/\.(?:localhost|local|internal|lan|home\.arpa)$/.test(host)
  return ipaddr.process(host).range() === 'unicast'
}

/** Returns the permission of callers without a user on the agent `default`. */
export function strangersMay({ publicAccess }: Configuration): 'full' | 'chat' | 'read' {
  return publicAccess ?? 'full'
}
