import type { FastifyRequest } from 'fastify'
import { AccessDenied, AppError, conflict } from '#platform/errors.ts'
import { clientSignal, type SignalOf, whenClosed } from '#platform/http/closing.ts'
import type { Log } from '#platform/logging/log.ts'
import type { AccessService } from './access.service.ts'
import type { AccessWatch } from './access-watch.ts'
import { callerStill, type FindCaller } from './caller.ts'
import { type AgentAccess, allows, isAgentAccess } from './policy.ts'
import type { PublicAccessOf } from './web-pages.ts'

interface Dependencies {
  identify: FindCaller
  publicAccess: PublicAccessOf
  access: Pick<AccessService, 'permissionOn'>
  watch: AccessWatch
  isDisabled(agentId: string): Promise<boolean>
  log: Log
}

/**
 * Creates signals for long requests. They abort when the client disconnects before the response, and, with an error,
 * when the caller may no longer make the request, or the agent is disabled or deleted.
 */
export function createCallerSignal(needs: Dependencies): SignalOf {
  const { identify, access, watch, isDisabled, log } = needs
  /** Returns why the request must end. Paid calls cannot be withdrawn. */
  async function refusalOf(request: FastifyRequest, agentId: string, needed: AgentAccess) {
    try {
      if (request.gate !== undefined) return undefined
      const caller = await callerStill(request, identify)
      const publicAccess = await needs.publicAccess(request)
      const permission = await access.permissionOn(agentId, { caller, publicAccess })
      // A stream continues with the data that its reader could see at its beginning.
      const seesLess = permission === 'chat' && !request.isChatOnly
      const mayGoOn = !seesLess && allows(permission, needed, request.routeOptions.config.chat)
      return mayGoOn ? undefined : roleTakenAway()
    } catch (error) {
      if (error instanceof AccessDenied) return roleTakenAway()
      // The agent was deleted.
      if (error instanceof AppError && error.fault === 'user') return error
      throw error
    }
  }

  return (request, reply) => {
    const needed = request.routeOptions.config.access
    if (needed === undefined || !isAgentAccess(needed)) return clientSignal(reply)
    const { agentId } = request.agent
    const caller = new AbortController()
    const look = async () => {
      const refusal = await refusalOf(request, agentId, needed)
      if (refusal !== undefined) caller.abort(refusal)
      else if (await isDisabled(agentId)) caller.abort(conflict('This agent was disabled.'))
    }
    const unsubscribe = watch.watch(agentId, () => {
      look().catch(error =>
        log.warn({ err: error, agentId }, 'whether a caller may go on could not be looked up'),
      )
    })
    whenClosed(reply, isSent => {
      unsubscribe()
      if (!isSent) caller.abort()
    })
    return caller.signal
  }
}

export function roleTakenAway(): AppError {
  return new AppError('FORBIDDEN', 'Access denied: your role on this agent was taken away.')
}
