import type { FastifyRequest } from 'fastify'
import { AccessDenied } from '#platform/errors.ts'
import type { AccessService } from './access.service.ts'
import type { AccessWatch } from './access-watch.ts'
import { actorFor, type FindCaller } from './caller.ts'
import { allows, chatRefusal } from './policy.ts'
import type { PublicAccessOf } from './web-pages.ts'

interface Dependencies {
  identify: FindCaller
  publicAccess: PublicAccessOf
  access: Pick<AccessService, 'permissionOn'>
  watch: AccessWatch
}

/** The caller who opened a connection. */
export interface ConnectedCaller {
  /** The caller's e-mail address; undefined without a user. */
  email: string | undefined
  /** True if the caller may also change the agent. */
  isAdmin: boolean
}

export interface ConnectionAccess {
  /** Identifies the caller by the request that opened the connection. @throws AppError UNAUTHORIZED, NOT_FOUND, AccessDenied */
  callerOf(request: FastifyRequest, agentId: string): Promise<ConnectedCaller>
  /** Calls `look` whenever rights on the agent might be lost. Returns a function that ends the watch. */
  watch(agentId: string, look: () => void): () => void
}

export function createConnectionAccess(needs: Dependencies): ConnectionAccess {
  const { identify, publicAccess, access, watch } = needs
  return {
    async callerOf(request, agentId) {
      const caller = await identify(request)
      request.caller = caller
      request.actor = actorFor(caller)
      const permission = await access.permissionOn(agentId, {
        caller,
        publicAccess: await publicAccess(request),
      })
      if (!allows(permission, 'viewer')) throw new AccessDenied(chatRefusal)
      return { email: caller.user?.email, isAdmin: allows(permission, 'admin') }
    },
    watch: watch.watch,
  }
}
