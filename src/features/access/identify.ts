import type { FastifyRequest } from 'fastify'
import { isLoopback } from '#platform/network.ts'
import type { Caller, Identify, User } from './caller.ts'
import { isCrossOrigin } from './cross-origin.ts'
import type { VerifyToken } from './gateway.ts'

/** The scheme before a token in a header's value (RFC 6750, section 2.1). */
const bearer = /^Bearer +/i

/** A token without an e-mail address names no user. */
export function identifyByGateway(header: string, verify: VerifyToken): Identify {
  const name = header.toLowerCase()
  const beforeToken = name === 'authorization' ? bearer : ''
  const callerOf = (user: User | undefined): Caller | undefined => user && { user, via: 'gateway' }
  return request => {
    const token = request.headers[name]
    // Proxies send an empty header for no user.
    if (token === undefined || token === '') return undefined
    const user = verify((Array.isArray(token) ? token.join(',') : token).replace(beforeToken, ''))
    return user instanceof Promise ? user.then(callerOf) : callerOf(user)
  }
}

/**
 * Identifies every request in development as one user, except those that a page of another site could have sent:
 * with another origin, or under a name that only points at this machine (DNS rebinding).
 */
export function identifyAsDeveloper(email: string): Identify {
  const caller: Caller = { user: { email, name: undefined, isDeveloper: true }, via: 'developer' }
  return request => (isOwnRequest(request) ? caller : undefined)
}

function isOwnRequest({ headers }: FastifyRequest): boolean {
  return isLoopback(URL.parse(`http://${headers.host}`)?.hostname ?? '') && !isCrossOrigin(headers)
}
