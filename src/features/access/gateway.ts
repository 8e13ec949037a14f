import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clock } from '#platform/clock.ts'
import { emailAddress, inOneCase } from '#platform/email-address.ts'
import { AppError } from '#platform/errors.ts'
import { unstorable } from '#platform/http/requests/storable-text.ts'
import { createKeyFinder } from './gateway-keys.ts'

/** A person named by the identity gateway, or by the development setting. */
export interface User {
  /** In one case, see `inOneCase`. */
  email: string
  name: string | undefined
}

export interface GatewaySettings {
  jwksUrl: string
  audience: string
  issuer: string | undefined
  header: string
}

/** Verifies a token: the user it names, or undefined for a valid token without an e-mail; at once where it is known. */
export type VerifyToken = (token: string) => User | undefined | Promise<User | undefined>

interface Verified {
  user: User | undefined
  /** Milliseconds since the Unix epoch, when it has to be looked at again. */
  expiresAt: number
}

const rememberedTokens = 5000

/**
 * Verifies the JWT of an identity gateway against its published keys (RFC 7519, RFC 7517), which may rotate.
 * A verified token is remembered by its hash until it expires, or its key may have been withdrawn. Throws UNAUTHORIZED
 * for a token that is not to be trusted.
 */
export function createGateway(settings: GatewaySettings, clock: Clock): VerifyToken {
  const remembered = new LRUCache<string, Verified>({ max: rememberedTokens })
  const verify = createVerifier(settings, clock)
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

function createVerifier(settings: GatewaySettings, clock: Clock): (token: string) => Promise<Verified> {
  const { audience, issuer } = settings
  let ready: ReturnType<typeof load> | undefined

  async function load() {
    const jose = await import('jose')
    return { jose, keys: createKeyFinder(jose, new URL(settings.jwksUrl), clock) }
  }

  return async token => {
    // With the first token: a service without a gateway never pays for it.
    ready ??= load()
    const { jose, keys } = await ready
    const options = {
      audience,
      algorithms: ['RS256', 'ES256'],
      requiredClaims: ['exp', 'aud'],
      currentDate: new Date(clock.now()),
      ...(issuer === undefined ? {} : { issuer }),
    }
    // As it is before: meanwhile the key that is found may be withdrawn.
    const keysUntil = keys.until()
    try {
      const { payload } = await jose.jwtVerify(token, keys.find, options)
      return { user: userOf(payload), expiresAt: Math.min((payload.exp ?? 0) * 1000, keysUntil) }
    } catch (error) {
      throw translate(error)
    }
  }
}

function userOf(claims: Record<string, unknown>): User | undefined {
  const { email, name } = claims
  // A value that is no address names no person: a gateway that knows of none may send a blank one for several.
  if (typeof email !== 'string' || !emailAddress.test(email) || unstorable(email) !== undefined)
    return undefined
  return { email: inOneCase(email), name: typeof name === 'string' ? name : undefined }
}

/** Errors of jose about keys for which the token, not the gateway, is to blame. */
const tokenFaults = ['ERR_JWKS_NO_MATCHING_KEY', 'ERR_JWKS_MULTIPLE_MATCHING_KEYS', 'ERR_JWK_INVALID']

/** The token's fault, or a key set that can't be fetched or read. */
function translate(error: unknown): AppError {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  const isTokenFault = /^ERR_(JWT|JWS|JOSE_ALG|JOSE_NOT_SUPPORTED)/.test(code) || tokenFaults.includes(code)
  if (isTokenFault)
    return new AppError('UNAUTHORIZED', 'The identity token is not valid or has expired. Sign in again.', {
      cause: error,
    })
  return new AppError(
    'IDENTITY_UNAVAILABLE',
    'The keys of the identity gateway could not be fetched. Try again.',
    {
      cause: error,
    },
  )
}
