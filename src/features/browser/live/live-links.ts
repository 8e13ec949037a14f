import type { Clock } from '#platform/clock.ts'

/** The right of a link: to watch one session, to drive it during one takeover, or to see its recording. */
export type Right = 'watch' | 'takeover' | 'replay'

export interface Grant {
  sessionId: string
  right: Right
  /** The takeover of a link that permits one. */
  takeoverId?: string | undefined
}

/** A grant with the end of its validity, in milliseconds since the epoch. */
export interface ValidGrant extends Grant {
  expiresAt: number
}

export interface Link {
  url: string
  expires_at: string
}

interface Dependencies {
  /** Signs the tokens; identical in all processes of the service. */
  secret: string
  /** Returns the address of the service, without a slash at its end. */
  origin(): string | Promise<string>
  clock: Clock
}

/** Validity of a link for watching (ms). */
const watchMs = 60 * 60_000

const pages = { watch: 'live', takeover: 'live', replay: 'replay' } as const satisfies Record<Right, string>

/** Makes links to the pages of sessions, each with a single right (RFC 7519). */
export function createLiveLinks({ secret, origin, clock }: Dependencies) {
  const key = new TextEncoder().encode(secret)

  return {
    /** @param expiresAt milliseconds since the epoch; defaults to an hour from now. */
    async make(grant: Grant, expiresAt = clock.now() + watchMs): Promise<Link> {
      const { SignJWT } = await import('jose')
      const { sessionId, right, takeoverId } = grant
      const token = await new SignJWT({ right, ...(takeoverId !== undefined && { takeover: takeoverId }) })
        .setProtectedHeader({ alg: 'HS256' })
        .setSubject(sessionId)
        .setExpirationTime(Math.ceil(expiresAt / 1000))
        .sign(key)
      const url = `${await origin()}/${pages[right]}/${encodeURIComponent(sessionId)}?token=${token}`
      return { url, expires_at: new Date(expiresAt).toISOString() }
    },

    /** Returns the grant of a token; undefined for an invalid or expired token, or another session's. */
    async read(token: string, sessionId: string): Promise<ValidGrant | undefined> {
      const { jwtVerify } = await import('jose')
      const currentDate = new Date(clock.now())
      const options = { subject: sessionId, algorithms: ['HS256'], requiredClaims: ['exp'], currentDate }
      const verified = await jwtVerify(token, key, options).catch(() => undefined)
      if (verified === undefined) return undefined
      const {
        right,
        takeover,
        exp = 0,
      } = verified.payload as { right: Right; takeover?: string; exp?: number }
      return { sessionId, right, takeoverId: takeover, expiresAt: exp * 1000 }
    },
  }
}

export type LiveLinks = ReturnType<typeof createLiveLinks>
