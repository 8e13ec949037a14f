import { Type } from 'typebox'
import { emailAddress, inOneCase } from '#platform/email-address.ts'
import { isLoopback } from '#platform/network.ts'
import { group, key, listOf, oneOf, optional, text, webAddress } from './variables.ts'

/** Settings for who callers are, and what those without a user may do. */
export const access = group({
  variables: {
    GATEWAY_JWKS_URL: webAddress(),
    GATEWAY_AUDIENCE: optional('the audience that the gateway puts into its tokens'),
    GATEWAY_ISSUER: optional('the issuer that the gateway puts into its tokens'),
    GATEWAY_HEADER: text('Edge-Access-JWT-Assertion', 'a header name', { pattern: '^[A-Za-z0-9-]+$' }),
    OWNER_EMAIL: text('owner@localhost', 'an e-mail address', { check: value => emailAddress.test(value) }),
    OIDC_ISSUER: optional('an https address, or an http one of this machine', { check: isIssuer }),
    OIDC_CLIENT_ID: optional('the id of this service at the identity provider'),
    OIDC_CLIENT_SECRET: key(),
    OIDC_TRUST_EMAIL: oneOf(['false', 'true'], 'false'),
    OIDC_GROUPS_CLAIM: optional('the claim that holds the groups of a person'),
    OIDC_ROLES: optional('entries of the form group=agent:role, separated by commas', {
      check: value => listOf(value).every(entry => groupRole.test(entry)),
    }),
    SIGN_IN_ALLOW: optional('e-mail addresses and @domains, separated by commas', {
      check: value => listOf(value).every(isPerson),
    }),
    AGENTS_BY: text(
      'proved',
      'anyone, proved, owners, or e-mail addresses and @domains, separated by commas',
      {
        check: value => isMakerRule(value) || listOf(value).every(isPerson),
      },
    ),
    PUBLIC_ACCESS: Type.Optional(oneOf(['full', 'chat', 'read'])),
    DEV_USER: optional('an e-mail address', { check: value => emailAddress.test(value) }),
  },
  problems({ GATEWAY_JWKS_URL, GATEWAY_AUDIENCE, GATEWAY_ISSUER, DEV_USER, ...oidc }, { HOST, BASE_URL }) {
    const problems = oidcProblems(oidc)
    if (oidc.OIDC_ISSUER !== undefined && BASE_URL === undefined && !isLoopback(String(HOST)))
      problems.push(`BASE_URL must be set with OIDC_ISSUER while HOST (${HOST}) is not a loopback address.`)
    const gateway = [GATEWAY_JWKS_URL, GATEWAY_AUDIENCE, GATEWAY_ISSUER].some(value => value !== undefined)
    // An issuer alone is no gateway, although an operator who sets it believes that there is one.
    if (gateway && (GATEWAY_JWKS_URL === undefined || GATEWAY_AUDIENCE === undefined))
      problems.push(
        'GATEWAY_JWKS_URL and GATEWAY_AUDIENCE must be set together, GATEWAY_ISSUER only beside them.',
      )
    if (DEV_USER !== undefined && gateway)
      problems.push('DEV_USER must not be set while the identity gateway is on: it would let everybody in.')
    if (DEV_USER !== undefined && !isLoopback(String(HOST)))
      problems.push(`DEV_USER must not be set while HOST (${HOST}) is not a loopback address.`)
    return problems
  },
  read({ GATEWAY_JWKS_URL: jwksUrl, GATEWAY_AUDIENCE: audience, ...environment }) {
    const gateway = { issuer: environment.GATEWAY_ISSUER, header: environment.GATEWAY_HEADER }
    const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = environment
    return {
      ownerEmail: inOneCase(environment.OWNER_EMAIL),
      oidc: issuer && clientId ? { issuer, clientId, ...oidcOf(environment) } : undefined,
      /** Normalized to one letter case. */
      signInAllow: listOf(environment.SIGN_IN_ALLOW).map(inOneCase),
      /** The people who make agents: a rule, or addresses and @domains in one letter case. */
      agentsBy: isMakerRule(environment.AGENTS_BY)
        ? environment.AGENTS_BY
        : listOf(environment.AGENTS_BY).map(inOneCase),
      gateway: jwksUrl && audience ? { jwksUrl, audience, ...gateway } : undefined,
      publicAccess: environment.PUBLIC_ACCESS,
      devUser: environment.DEV_USER === undefined ? undefined : inOneCase(environment.DEV_USER),
    }
  },
})

const makerRules = ['anyone', 'proved', 'owners'] as const

function isMakerRule(value: string): value is (typeof makerRules)[number] {
  return (makerRules as readonly string[]).includes(value)
}

/** True for an e-mail address, or a domain after an @. */
function isPerson(entry: string): boolean {
  return /^[^\s@]*@[^\s@]+$/.test(entry)
}

/** A group's name can hold any of the separators but the comma. */
const groupRole = /^(?<group>.+)=(?<agent>[^=:]+):(?<role>chat|viewer|admin|owner)$/

type GroupRole = 'chat' | 'viewer' | 'admin' | 'owner'

interface OidcVariables {
  OIDC_ISSUER?: string
  OIDC_CLIENT_ID?: string
  OIDC_CLIENT_SECRET?: string
  OIDC_TRUST_EMAIL: string
  OIDC_GROUPS_CLAIM?: string
  OIDC_ROLES?: string
}

function oidcOf(variables: OidcVariables) {
  const pairs = listOf(variables.OIDC_ROLES).map(entry => groupRole.exec(entry)?.groups ?? {})
  return {
    clientSecret: variables.OIDC_CLIENT_SECRET,
    trustsEmail: variables.OIDC_TRUST_EMAIL === 'true',
    groupsClaim: variables.OIDC_GROUPS_CLAIM,
    /** Reads agents by their ids or names, which are looked up once, at the start. */
    roles: pairs.map(({ group = '', agent = '', role = '' }) => ({ group, agent, role: role as GroupRole })),
  }
}

function oidcProblems(oidc: OidcVariables): string[] {
  const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_GROUPS_CLAIM, OIDC_ROLES } = oidc
  const problems: string[] = []
  const given = [OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_GROUPS_CLAIM, OIDC_ROLES]
  if (given.some(value => value !== undefined) && (OIDC_ISSUER === undefined || OIDC_CLIENT_ID === undefined))
    problems.push(
      'OIDC_ISSUER and OIDC_CLIENT_ID must be set together, the other OIDC variables only beside them.',
    )
  if ((OIDC_GROUPS_CLAIM === undefined) !== (OIDC_ROLES === undefined))
    problems.push('OIDC_GROUPS_CLAIM and OIDC_ROLES must be set together.')
  return problems
}

/** Over http between machines an attacker could change the issuer's answers, and so sign in as any person. */
function isIssuer(value: string): boolean {
  const url = URL.parse(value)
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname))
}
