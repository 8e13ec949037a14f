import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clock } from '#platform/clock.ts'
import { emailAddress, inOneCase } from '#platform/email-address.ts'
import { AppError } from '#platform/errors.ts'
import { unstorable } from '#platform/http/requests/storable-text.ts'
import type { Log } from '#platform/logging/log.ts'
import type { User } from './caller.ts'
import { createKeyFinder } from './gateway-keys.ts'

export interface GatewaySettings {
  jwksUrl: string
  audience: string
  issuer: string | undefined
  header: string
}

/** Verifies a token. Returns its user, or undefined for a valid token without an e-mail; synchronously for a cached token. */
export type VerifyToken = (token: string) => User | undefined | Promise<User | undefined>

interface Verified {
  user: User | undefined
  /** Time of the next verification, in milliseconds since the Unix epoch. */
  expiresAt: number
}

const rememberedTokens = 5000

/**
 * Verifies the JWT of an identity gateway against its published keys (RFC 7519, RFC 7517), which can rotate.
 * Verified tokens are cached by their hash until they expire, or their key might have been withdrawn. Throws UNAUTHORIZED
 * for an invalid token.
 */
export function createGateway(settings: GatewaySettings, clock: Clock, log: Log): VerifyToken {
  const remembered = new LRUCache<string, Verified>({ max: rememberedTokens })
  const verify = createVerifier(settings, clock, log)
  async function verifyAndRemember(token: string, key: string) {
    const verified = await verify(token)
    remembered.set(key, verified)
    return verified.user
  }
  return token => {
    const key = hash('sha256', token, 'base64')
    const known = remembered.get(key)
    return known !== undefined && known.expiresAt > clock.now() ? known.user : verifyAndRemember(token, key)
  }
}

function createVerifier(
  settings: GatewaySettings,
  clock: Clock,
  log: Log,
): (token: string) => Promise<Verified> {
  const { audience, issuer } = settings
  let ready: ReturnType<typeof load> | undefined

  async function load() {
    const jose = await import('jose')
    return { jose, keys: createKeyFinder(jose, new URL(settings.jwksUrl), clock) }
  }

  return async token => {
    // Loaded with the first token: a service without a gateway never pays for it.
    ready ??= load()
    const { jose, keys } = await ready
    const options = {
      audience,
      algorithms: ['RS256', 'ES256'],
      requiredClaims: ['exp', 'aud'],
      currentDate: new Date(clock.now()),
      ...(issuer === undefined ? {} : { issuer }),
    }
    // Read before verification, because the key can be withdrawn meanwhile.
    const keysUntil = keys.until()
    try {
      const { payload } = await jose.jwtVerify(token, keys.find, options)
      return { user: userOf(payload), expiresAt: Math.min((payload.exp ?? 0) * 1000, keysUntil) }
    } catch (error) {
      throw refusalFor(error, log)
    }
  }
}

function userOf(claims: Record<string, unknown>): User | undefined {
  const { email, name } = claims
  // A value that is no address names no person: a gateway without the address might send the same blank value for several people.
  if (typeof email !== 'string' || !emailAddress.test(email) || unstorable(email) !== undefined)
    return undefined
  return { email: inOneCase(email), name: typeof name === 'string' ? name : undefined }
}

interface JoseError {
  code: string
  /** The claim that failed, if the token's signature is valid. */
  claim?: string
  payload?: Record<string, unknown>
}

/** Reasons why a token is invalid, sent as `details.reason`. */
const refusals = {
  expired: 'The identity token has expired. Sign in again.',
  not_yet_valid: 'The identity token is not valid yet: compare the clocks of the gateway and of this server.',
  audience: 'The identity token is meant for another audience than this service (GATEWAY_AUDIENCE).',
  issuer: 'The identity token comes from another issuer than this service accepts (GATEWAY_ISSUER).',
  signature: 'The identity token is signed by no key that the gateway publishes. Sign in again.',
  malformed: 'The identity token is no JWT that this service accepts. Sign in again.',
}
const reasonOfCode: Record<string, keyof typeof refusals> = {
  ERR_JWT_EXPIRED: 'expired',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'signature',
  ERR_JWKS_NO_MATCHING_KEY: 'signature',
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: 'signature',
}
const reasonOfClaim: Record<string, keyof typeof refusals> = {
  nbf: 'not_yet_valid',
  aud: 'audience',
  iss: 'issuer',
}
/** Max characters of a claim in the log. */
const loggedCharacters = 200

/** Returns the error for an invalid token, which is logged, or for a key set that can't be fetched or read. */
function refusalFor(error: unknown, log: Log): AppError {
  const { code, claim, payload } = isJoseError(error) ? error : { code: '' }
  if (!/^ERR_(JWT|JWS|JOSE_ALG|JOSE_NOT_SUPPORTED|JWKS_NO_MATCHING|JWKS_MULTIPLE|JWK_INVALID)/.test(code))
    return new AppError(
      'IDENTITY_UNAVAILABLE',
      'The keys of the identity gateway could not be fetched. Try again.',
      { cause: error },
    )
  const reason = reasonOfCode[code] ?? reasonOfClaim[claim ?? ''] ?? 'malformed'
  const given = claim && JSON.stringify(payload?.[claim])?.slice(0, loggedCharacters)
  log[reason === 'expired' ? 'info' : 'warn']({ reason, code, claim, given }, 'refused an identity token')
  return new AppError('UNAUTHORIZED', refusals[reason], { cause: error, details: { reason } })
}

function isJoseError(error: unknown): error is JoseError {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
}
