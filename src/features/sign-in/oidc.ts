import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { emailAddress, inOneCase } from '#platform/email-address.ts'
import { AppError } from '#platform/errors.ts'
import { unstorable } from '#platform/http/requests/storable-text.ts'

type Client = typeof import('openid-client')
type Settings = NonNullable<Infrastructure['configuration']['oidc']>

export const signInLimitSeconds = 600
const timeout = 10

/** The reason why a person was not signed in, as a sentence for them; `reason` and `detail` are for the log. */
export class SignInRefused extends AppError {
  readonly reason: string
  readonly detail: string | undefined

  constructor(reason: string, message: string, detail?: string) {
    super('FORBIDDEN', message)
    this.reason = reason
    this.detail = detail
  }
}

/** The state that the browser stores, sealed, until it returns. */
interface Begun {
  state: string
  nonce: string
  verifier: string
  returnTo: string
  expiresAt: number
}

/** A person as identified by the identity provider. */
export interface Account {
  issuer: string
  subject: string
  email: string
  name: string | null
  groups: readonly string[]
}

/** The code flow of OpenID Connect with PKCE at one identity provider. */
export function createOidc(
  settings: Settings,
  { secretBox, clock }: Pick<Infrastructure, 'secretBox' | 'clock'>,
) {
  const context = ['sign-in']

  return {
    /** Returns the provider's address, and the state for the browser to store. @throws SignInRefused */
    async begin(redirect_uri: string, returnTo: string) {
      const { client, provider } = await discover(settings).catch(refuse)
      const [state, nonce, verifier] = [
        client.randomState(),
        client.randomNonce(),
        client.randomPKCECodeVerifier(),
      ]
      const groups = settings.groupsClaim && provider.serverMetadata().scopes_supported?.includes('groups')
      const url = client.buildAuthorizationUrl(provider, {
        redirect_uri,
        state,
        nonce,
        code_challenge_method: 'S256',
        scope: `openid email profile${groups ? ' groups' : ''}`,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
      })
      const begun: Begun = {
        state,
        nonce,
        verifier,
        returnTo,
        expiresAt: clock.now() + signInLimitSeconds * 1000,
      }
      return { url: url.href, kept: secretBox.seal(JSON.stringify(begun), context) }
    },

    /** Returns the person who returned to `url`, and the page to open. @throws SignInRefused */
    async finish(url: URL, kept: readonly string[]): Promise<{ account: Account; returnTo: string }> {
      const state = url.searchParams.get('state')
      const begun = kept.map(readKept).find(one => one?.state === state)
      if (begun === undefined || begun.expiresAt < clock.now())
        throw new SignInRefused(
          'state',
          'This sign-in was not begun in this browser, or not in the last ten minutes. Begin again.',
        )
      const { nonce: expectedNonce, state: expectedState, verifier: pkceCodeVerifier } = begun
      const checks = { expectedNonce, expectedState, pkceCodeVerifier, idTokenExpected: true }
      const claims = await discover(settings)
        .then(({ client, provider }) => claimsFrom(client, provider, url, checks, settings))
        .catch(refuse)
      return { account: accountOf(claims, settings), returnTo: begun.returnTo }
    },
  }

  function readKept(kept: string): Begun | undefined {
    try {
      return JSON.parse(secretBox.open(kept, context))
    } catch {
      return undefined
    }
  }
}

export type Oidc = ReturnType<typeof createOidc>
type Provider = Awaited<ReturnType<Client['discovery']>>
type Claims = Record<string, unknown>
type Checks = NonNullable<Parameters<Client['authorizationCodeGrant']>[2]>

/** Reads the provider's metadata at each sign-in, so that a change of its keys or addresses is never missed. */
async function discover({ issuer, clientId, clientSecret: secret }: Settings) {
  const client = await import('openid-client')
  const execute = [client.enableNonRepudiationChecks]
  if (issuer.startsWith('http:')) execute.push(client.allowInsecureRequests)
  const authentication = secret === undefined ? client.None() : client.ClientSecretBasic(secret)
  const provider = await client.discovery(new URL(issuer), clientId, secret, authentication, {
    execute,
    timeout,
  })
  return { client, provider }
}

/** Reads the claims of the ID token, and those that the provider returns only for the access token. */
async function claimsFrom(
  client: Client,
  provider: Provider,
  url: URL,
  checks: Checks,
  { groupsClaim }: Settings,
) {
  const tokens = await client.authorizationCodeGrant(provider, url, checks)
  const { email_verified, ...claims }: Claims = { ...tokens.claims() }
  const wanted = ['email', ...(groupsClaim === undefined ? [] : [groupsClaim])]
  if (email_verified !== undefined && wanted.every(name => name in claims))
    return { ...claims, email_verified }
  if (provider.serverMetadata().userinfo_endpoint === undefined) return { ...claims, email_verified }
  const more = await client.fetchUserInfo(provider, tokens.access_token, String(claims.sub))
  // The verification of one address proves nothing about another.
  const isSame = more.email === undefined || more.email === claims.email
  return { ...(isSame && { email_verified }), ...claims, ...more, iss: claims.iss }
}

function accountOf(claims: Claims, { trustsEmail, groupsClaim = '' }: Settings): Account {
  const { iss, sub, email, email_verified, name } = claims
  if (typeof email !== 'string' || !emailAddress.test(email) || unstorable(email) !== undefined)
    throw new SignInRefused('no_email', 'The identity provider names no e-mail address of yours.')
  if (email_verified !== true && !trustsEmail)
    throw new SignInRefused(
      'email_not_verified',
      `The identity provider has not verified that ${email} is yours. Verify it there, and sign in again.`,
      `email_verified is ${JSON.stringify(email_verified)}; OIDC_TRUST_EMAIL=true accepts it`,
    )
  const groups = [claims[groupsClaim]].flat().filter(group => typeof group === 'string')
  const known = typeof name === 'string' && unstorable(name) === undefined ? name.slice(0, 200) : null
  return { issuer: String(iss), subject: String(sub), email: inOneCase(email), name: known, groups }
}

/** Error codes for a missing or malformed response of the provider. */
const unreachable = /^OAUTH_(TIMEOUT|RESPONSE_IS_NOT_CONFORM|RESPONSE_IS_NOT_JSON|PARSE_ERROR)$/

/** Throws the refusal. The library's messages name the failure; its causes can hold tokens, and are not passed on. */
function refuse(thrown: unknown): never {
  if (thrown instanceof SignInRefused) throw thrown
  const {
    code = 'OAUTH_TIMEOUT',
    message,
    error,
  } = thrown as { code?: string; message?: string; error?: string }
  const detail = [code, error, message].join(' ').slice(0, 300)
  if (code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR')
    throw new SignInRefused('denied', 'The identity provider did not sign you in. Begin again.', detail)
  if (unreachable.test(code))
    throw new SignInRefused(
      'unreachable',
      'The identity provider does not answer. Try again in a few minutes.',
      detail,
    )
  throw new SignInRefused(
    'untrusted',
    'The identity provider gave an answer that can’t be trusted, so you were not signed in. Begin again, and if that fails tell the operator.',
    detail,
  )
}
