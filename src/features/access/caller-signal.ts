import { AccessDenied, AppError } from '#platform/errors.ts'
import type { SignalOf } from '#platform/http/closing.ts'
import { clientSignal, whenClosed } from '#platform/http/closing.ts'
import type { Log } from '#platform/log.ts'
import type { AccessService } from './access.service.ts'
import type { User } from './gateway.ts'
import type { Power } from './policy.ts'
import { allows, isAgentAccess } from './policy.ts'

interface Needs {
  access: Pick<AccessService, 'powerOn' | 'watchRoles'>
  log: Log
}

/**
 * For what a request goes on with for long: aborts when its client goes away before it was answered, and, with an error
 * that says so, when its caller may not make it any more.
 */
export function createCallerSignal({ access, log }: Needs): SignalOf {
  async function mayStill(user: User, agentId: string, needed: Power): Promise<boolean> {
    try {
      return allows(await access.powerOn(agentId, user), needed)
    } catch (error) {
      if (error instanceof AccessDenied || (error instanceof AppError && error.fault === 'user')) return false
      throw error
    }
  }

  return (request, reply) => {
    const { user, agent } = request
    const needed = request.routeOptions.config.access
    // Nobody takes away what callers without a user may do.
    if (user === undefined || needed === undefined || !isAgentAccess(needed)) return clientSignal(reply)
    const { agentId } = agent
    const caller = new AbortController()
    const part = access.watchRoles(agentId, () => {
      mayStill(user, agentId, needed).then(
        isAllowed => isAllowed || caller.abort(roleTakenAway()),
        error => log.warn({ err: error, agentId }, 'the role of a caller could not be looked up again'),
      )
    })
    whenClosed(reply, isSent => {
      part()
      if (!isSent) caller.abort()
    })
    return caller.signal
  }
}

function roleTakenAway(): AppError {
  return new AppError('FORBIDDEN', 'Access denied: your role on this agent was taken away.')
}
