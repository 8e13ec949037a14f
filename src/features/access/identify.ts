import type { FastifyRequest } from 'fastify'
import { isLoopback } from '#platform/network.ts'
import { isCrossOrigin } from './cross-origin.ts'
import type { User, VerifyToken } from './gateway.ts'

/**
 * Finds out who sends a request: a user, or none. Returns at once if there is nothing to wait for. Throws UNAUTHORIZED
 * for a token that is not to be trusted.
 */
export type Identify = (request: FastifyRequest) => User | undefined | Promise<User | undefined>

/** The scheme before a token in a header's value (RFC 6750, section 2.1). */
const bearer = /^Bearer +/i

/** With a gateway its header alone decides; other headers that name a person are never looked at. */
export function identifyByGateway(header: string, verify: VerifyToken): Identify {
  const name = header.toLowerCase()
  const beforeToken = name === 'authorization' ? bearer : ''
  return request => {
    const token = request.headers[name]
    // Proxies send an empty header for no user.
    if (token === undefined || token === '') return undefined
    return verify((Array.isArray(token) ? token.join(',') : token).replace(beforeToken, ''))
  }
}

/**
 * In development every request is that of one user, save those that a foreign web page could have sent:
 * with another origin, or under a name that only points at this machine (DNS rebinding).
 */
export function identifyAsDeveloper(email: string): Identify {
  const user: User = { email, name: undefined, isDeveloper: true }
  return request => (isOwnRequest(request) ? user : undefined)
}

function isOwnRequest({ headers }: FastifyRequest): boolean {
  return isLoopback(URL.parse(`http://${headers.host}`)?.hostname ?? '') && !isCrossOrigin(headers)
}

export const identifyNobody: Identify = () => undefined
