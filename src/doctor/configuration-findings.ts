import type { Configuration } from '#configuration/configuration.ts'
import { isLoopback } from '#platform/network.ts'
import { createAddressPolicy } from '#platform/outbound/address-policy.ts'
import { hostOf, isExposed, isProxied, isReadOnTheWay, peopleSignIn, strangersMay } from './exposure.ts'
import { type Finding, holding } from './finding.ts'

/** Returns the faults that the environment variables alone show. */
export function findInConfiguration(configuration: Configuration): Finding[] {
  return [
    ...findInAccess(configuration),
    ...findInSignIn(configuration),
    ...findInBudgets(configuration),
    ...findInProxies(configuration),
    ...findInOutbound(configuration),
    ...findInConnections(configuration),
  ]
}

function findInAccess(configuration: Configuration): Finding[] {
  const { host, port, baseUrl, gateway, devUser, publicAccess } = configuration
  const isOpen = strangersMay(configuration) === 'full'
  const limit = 'Set PUBLIC_ACCESS to chat or read.'
  return holding([
    [
      isOpen && isExposed(configuration) && gateway === undefined,
      'stranger',
      `Everybody who reaches ${baseUrl ?? 'this address'} may change the agent "default" without signing in.`,
      limit,
    ],
    [
      isOpen && gateway !== undefined && !isLoopback(host),
      'stranger',
      `Who reaches port ${port} of ${host} past the identity gateway may change the agent "default" without signing in.`,
      limit,
    ],
    [
      publicAccess === 'full' && gateway === undefined && !isExposed(configuration),
      'stranger',
      'Every web page that somebody visits on this machine may change the agent "default", since PUBLIC_ACCESS is full.',
      'Remove PUBLIC_ACCESS: programs on this machine may still do everything, pages of other sites only read and chat.',
    ],
    [
      devUser !== undefined && isProxied({ baseUrl }),
      'stranger',
      `Everybody whom a proxy lets through acts as ${devUser}, where the proxy sends the name of this machine as Host.`,
      'Remove DEV_USER where others can reach the service. It is meant for development.',
    ],
    [
      gateway !== undefined && isPlain(gateway.jwksUrl) && !isLoopback(hostOf(gateway.jwksUrl)),
      'stranger',
      'The keys of the identity gateway are fetched without encryption: an attacker who changes them on the way signs in as any person.',
      'Set GATEWAY_JWKS_URL to an https address.',
    ],
    [
      gateway !== undefined && gateway.issuer === undefined,
      'risk',
      'Tokens of every issuer whose keys the gateway publishes are accepted.',
      'Set GATEWAY_ISSUER to the issuer that the gateway puts into its tokens.',
    ],
    [
      isProxied({ baseUrl }) && isPlain(baseUrl ?? ''),
      'risk',
      `Passwords, keys and cookies cross the network in the clear, since BASE_URL is ${baseUrl}.`,
      'Put a proxy with a certificate in front, and set BASE_URL to its https address.',
    ],
  ])
}

/** Mail services at which anyone can get an address. */
const publicMail =
  /^@(?:gmail|googlemail|outlook|hotmail|live|yahoo|icloud|me|aol|gmx|web|mail|proton|protonmail|yandex|qq|163)\.[a-z]{2,3}(?:\.[a-z]{2})?$/

function findInSignIn({ oidc, signInAllow }: Configuration): Finding[] {
  const open = signInAllow.filter(entry => publicMail.test(entry))
  const owners = oidc?.roles.filter(({ role }) => role === 'owner').map(({ group }) => group) ?? []
  return holding([
    [
      oidc !== undefined && open.length > 0,
      'stranger',
      `Everybody may get an address that SIGN_IN_ALLOW admits, and create agents: ${open.join(', ')}.`,
      'Name single addresses, or domains of your own.',
    ],
    [
      oidc?.trustsEmail === true,
      'risk',
      'People who can choose their own address at the identity provider sign in as any person, since OIDC_TRUST_EMAIL is true.',
      'Remove OIDC_TRUST_EMAIL, unless the provider is a directory in which only administrators set addresses.',
    ],
    [
      owners.length > 0,
      'risk',
      `All people of a group own an agent, may delete it, and choose its people, by OIDC_ROLES: ${owners.join(', ')}.`,
      'Give groups at most the role admin, and the role owner to single people.',
    ],
  ])
}

/** A server without a key is the operator's own, which charges nothing; dollars are only reserved by prices. */
function findInBudgets(configuration: Configuration): Finding[] {
  const { openai, anthropic, google, openaiCompatible } = configuration.models
  const isPaid = [openai, anthropic, google, openaiCompatible].some(account => account?.apiKey !== undefined)
  const { monthly_tokens, monthly_usd } = configuration.houseLimits.all
  const hasPrices = Object.keys(configuration.modelPrices).length > 0
  const isBounded = monthly_tokens !== undefined || (monthly_usd !== undefined && hasPrices)
  const allMakeAgents = ['anyone', 'proved'].includes(String(configuration.agentsBy))
  return holding([
    [
      isPaid && peopleSignIn(configuration) && allMakeAgents && !isBounded,
      'risk',
      "People who sign in may make agents, and no budget bounds for sure what these spend on the platform's own model credentials.",
      'Set BUDGET_MONTHLY_TOKENS, or BUDGET_MONTHLY_USD together with MODEL_PRICES, and BUDGET_PERSON_MONTHLY_TOKENS for each person; or AGENTS_BY to owners or to names.',
    ],
  ])
}

function findInProxies(configuration: Configuration): Finding[] {
  const { trustProxy, rateLimits, host } = configuration
  const unlimited = Object.entries(rateLimits).filter(([, limit]) => limit === 0)
  const names = unlimited.map(([name]) => `RATE_LIMIT_${name.toUpperCase()}`).join(', ')
  return holding([
    [
      trustProxy.some(range => /\/0$/.test(range)),
      'risk',
      'Every client may choose the address that rate limits and the audit log see, since TRUST_PROXY names all addresses.',
      'Set TRUST_PROXY to the addresses of your proxies.',
    ],
    [
      isProxied(configuration) && isLoopback(host) && trustProxy.length === 0,
      'risk',
      'All people share one rate limit, and the audit log shows the address of the proxy for each of them.',
      'Set TRUST_PROXY to the address of the proxy, such as 127.0.0.1.',
    ],
    [
      isExposed(configuration) && unlimited.length > 0,
      'risk',
      `Nothing limits how many requests a caller sends (${names}).`,
      'Set limits: each question costs time, and money where a model is paid.',
    ],
  ])
}

/** One address of each kind that requests made for agents and pages should not reach. */
const inside = {
  'programs on this machine': ['127.0.0.1', '::1'],
  'the credentials of the cloud machine': ['169.254.169.254', 'fd00:ec2::254', '168.63.129.16'],
}

function findInOutbound(configuration: Configuration): Finding[] {
  const { outboundAllow } = configuration
  const policy = createAddressPolicy(outboundAllow)
  const wide = outboundAllow.filter(entry => /\/(?:\d|1[0-5])$/.test(entry) && !entry.startsWith('127.'))
  const reached = Object.entries(inside).filter(([, addresses]) =>
    addresses.some(address => policy.allows(address, '')),
  )
  const isLocalAlone = !isExposed(configuration)
  return holding([
    ...reached.map(([what]): Parameters<typeof holding>[0][number] => [
      !(isLocalAlone && what === 'programs on this machine'),
      'stranger',
      `Pages, tools and documents that an agent is given may reach ${what}, by OUTBOUND_ALLOW.`,
      'Name the hosts that are needed in OUTBOUND_ALLOW, and none of these.',
    ]),
    [
      !isLocalAlone && policy.names('localhost'),
      'stranger',
      'Pages, tools and documents that an agent is given may reach programs on this machine, since OUTBOUND_ALLOW names localhost.',
      'Remove localhost from OUTBOUND_ALLOW, and name the hosts that are needed.',
    ],
    [
      wide.length > 0,
      'risk',
      `OUTBOUND_ALLOW opens whole networks to agents: ${wide.join(', ')}.`,
      'Name single hosts, or ranges of at most /16.',
    ],
  ])
}

function findInConnections(configuration: Configuration): Finding[] {
  const { database, fileBucket, browser, channels, encryptionKeyPrevious, encryptionKey, logLevel } =
    configuration
  const ssl = URL.parse(database?.url ?? '')?.searchParams.get('sslmode') ?? 'disable'
  return holding([
    [
      isReadOnTheWay(database?.url) && ['disable', 'allow', 'prefer'].includes(ssl),
      'risk',
      `All data cross the network to ${hostOf(database?.url)} in the clear.`,
      'Add ?sslmode=verify-full to DATABASE_URL.',
    ],
    [
      isPlain(fileBucket?.endpoint ?? '') && isReadOnTheWay(fileBucket?.endpoint),
      'risk',
      `Uploaded files cross the network to ${hostOf(fileBucket?.endpoint)} in the clear.`,
      'Set FILES_S3_ENDPOINT to an https address.',
    ],
    [
      /^(?:http|ws):/.test(browser.remote?.url ?? '') && isReadOnTheWay(browser.remote?.url),
      'stranger',
      `Who can read or change the connection to the browser at ${hostOf(browser.remote?.url)} drives it.`,
      'Set BROWSER_CDP_URL to a wss address, or to a host of your own network.',
    ],
    [
      isPlain(browser.replicaUrl ?? '') && isReadOnTheWay(browser.replicaUrl),
      'risk',
      `Replicas talk to each other in the clear at ${hostOf(browser.replicaUrl)}, an address that others can reach.`,
      'Set REPLICA_URL to an address of your own network.',
    ],
    [
      /^smtp:/.test(channels.mail?.url ?? '') && isReadOnTheWay(channels.mail?.url),
      'risk',
      `Mail, and invitations in it, may cross the network to ${hostOf(channels.mail?.url)} in the clear.`,
      'Set SMTP_URL to an smtps address.',
    ],
    [
      encryptionKeyPrevious !== undefined,
      'risk',
      'The old encryption key is still configured, although a rotation has ended or was never run.',
      'Run npm run rotate-key, then remove ENCRYPTION_KEY_PREVIOUS.',
    ],
    [
      isGuessable(encryptionKey),
      'stranger',
      'The encryption key is one that can be guessed.',
      'Make a new one with: openssl rand -base64 32, and change to it with npm run rotate-key.',
    ],
    [
      isExposed(configuration) && ['debug', 'trace'].includes(logLevel),
      'risk',
      `The log holds more than operation needs (LOG_LEVEL=${logLevel}).`,
      'Remove LOG_LEVEL.',
    ],
  ])
}

function isPlain(address: string): boolean {
  return /^http:/i.test(address)
}

/** Min number of different bytes, below that of any random key. */
const variety = 12

function isGuessable(key: string | undefined): boolean {
  return key !== undefined && new Set(Buffer.from(key, 'base64')).size < variety
}
