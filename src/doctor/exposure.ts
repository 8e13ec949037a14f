import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { Configuration } from '#configuration/configuration.ts'
import { isLoopback } from '#platform/network.ts'

/** The host of an address; empty without one. */
export function hostOf(address: string | undefined): string {
  return URL.parse(address ?? '')?.hostname ?? ''
}

/** Whether others than this machine's own programs reach the service: directly, or by a proxy that stands before it. */
export function isExposed({ host, baseUrl }: Configuration): boolean {
  return !isLoopback(host) || isProxied({ baseUrl })
}

/** Whether the public address is another machine's, so that a proxy must stand between. */
export function isProxied({ baseUrl }: Pick<Configuration, 'baseUrl'>): boolean {
  return baseUrl !== undefined && !isLoopback(hostOf(baseUrl))
}

/** Whether other people can sign in: at a gateway, at a provider, or by links and invitations where they reach the service. */
export function peopleSignIn(configuration: Configuration): boolean {
  return configuration.gateway !== undefined || configuration.oidc !== undefined || isExposed(configuration)
}

/** Whether text that is sent in the clear to this address crosses networks of others. */
export function isReadOnTheWay(address: string | undefined): boolean {
  const host = hostOf(address).replace(/^\[|\]$/g, '')
  // A name without a dot is one of the local network, such as that of another container.
  if (isIP(host) === 0)
    return host.includes('.') && !/\.(?:localhost|local|internal|lan|home\.arpa)$/.test(host)
  return ipaddr.process(host).range() === 'unicast'
}

/** What callers without a user may do on the agent `default`. */
export function strangersMay({ publicAccess }: Configuration): 'full' | 'chat' | 'read' {
  return publicAccess ?? 'full'
}
