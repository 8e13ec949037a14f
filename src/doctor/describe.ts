import type { Configuration } from '#configuration/configuration.ts'
import { isLoopback } from '#platform/network.ts'
import { isProxied, strangersMay } from './exposure.ts'

/** Describes who reaches the service, how people are identified, and what the others may do: a line each. */
export function describe(configuration: Configuration): string[] {
  return [reach(configuration), ...doors(configuration), strangers(configuration), outbound(configuration)]
}

function reach(configuration: Configuration): string {
  const { host, port, baseUrl } = configuration
  const listens = `It listens on ${host}:${port}: `
  if (!isLoopback(host)) return `${listens}everybody who reaches this machine over the network reaches it.`
  return isProxied(configuration)
    ? `${listens}others reach it at ${baseUrl}, by a proxy on this machine.`
    : `${listens}only programs on this machine reach it.`
}

function doors({ gateway, oidc, devUser }: Configuration): string[] {
  const isAlways = 'API keys name their caller (Authorization: Bearer).'
  return [
    isAlways,
    ...(gateway === undefined ? [] : [`An identity gateway names people by a token in ${gateway.header}.`]),
    ...(oidc === undefined
      ? []
      : [`People with an account at ${oidc.issuer}, and a role here, sign in there.`]),
    'Links sign people in: those of invitations, and of npm run sign-in.',
    ...(devUser === undefined ? [] : [`Every other caller on this machine acts as ${devUser} (DEV_USER).`]),
  ]
}

const powers = {
  full: 'may do everything but manage its people',
  chat: 'may read and chat',
  read: 'may read',
}

/** Describes the permissions of callers without a user, or without a role. */
export function strangers(configuration: Configuration): string {
  const isLess = configuration.publicAccess === undefined && isLoopback(configuration.host)
  const pages = isLess && configuration.gateway === undefined
  return (
    `Callers without a user ${powers[strangersMay(configuration)]} on the agent "default", and reach no other agent.` +
    ' People without a role may do the same there.' +
    (pages ? ' Pages of other sites may only read and chat.' : '')
  )
}

function outbound({ outboundAllow }: Configuration): string {
  return outboundAllow.length === 0
    ? 'Agents reach public addresses only.'
    : `Agents reach public addresses, and by OUTBOUND_ALLOW: ${outboundAllow.join(', ')}.`
}
