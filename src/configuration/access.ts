import { Type } from 'typebox'
import { emailAddress, inOneCase } from '#platform/email-address.ts'
import { isLoopback } from '#platform/network.ts'
import { group, oneOf, optional, text, webAddress } from './variables.ts'

/** Who callers are, and what those without a user may do. */
export const access = group({
  variables: {
    GATEWAY_JWKS_URL: webAddress(),
    GATEWAY_AUDIENCE: optional('the audience that the gateway puts into its tokens'),
    GATEWAY_ISSUER: optional('the issuer that the gateway puts into its tokens'),
    GATEWAY_HEADER: text('Edge-Access-JWT-Assertion', 'a header name', { pattern: '^[A-Za-z0-9-]+$' }),
    PUBLIC_ACCESS: Type.Optional(oneOf(['full', 'chat', 'read'])),
    DEV_USER: optional('an e-mail address', { check: value => emailAddress.test(value) }),
  },
  problems({ GATEWAY_JWKS_URL, GATEWAY_AUDIENCE, GATEWAY_ISSUER, DEV_USER }, { HOST }) {
    const problems: string[] = []
    const gateway = [GATEWAY_JWKS_URL, GATEWAY_AUDIENCE, GATEWAY_ISSUER].some(value => value !== undefined)
    // An issuer alone is no gateway either, although an operator who sets it believes that there is one.
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
    return {
      gateway: jwksUrl && audience ? { jwksUrl, audience, ...gateway } : undefined,
      publicAccess: environment.PUBLIC_ACCESS,
      devUser: environment.DEV_USER === undefined ? undefined : inOneCase(environment.DEV_USER),
    }
  },
})
