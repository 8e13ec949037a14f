import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { type Clock, timestamp } from '#platform/clock.ts'
import { AppError, conflict } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { NoAnswer, passOn } from '#platform/http/replicas/pass-on.ts'
import type { SignedRequests } from '#platform/http/replicas/signed-requests.ts'
import type { AgentDatabases } from '#storage/agent-databases.ts'
import type { HeldSessions } from './held-sessions.ts'
import { agentOfSession, parametersOf } from './session-id.ts'
import { findHolder } from './sessions.repository.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Only the process that holds the session can answer: others forward the request to it. */
    atHolder?: true
  }
}

export const heldElsewhere =
  'Another process of this service holds the browser session, and cannot be reached: set REPLICA_URL there to its own address.'

interface Holder {
  instanceId: string
  replicaUrl: string
}

interface Dependencies {
  held: Pick<HeldSessions, 'find'>
  agentDatabases: Pick<AgentDatabases, 'use'>
  /** @throws AppError NOT_FOUND for an unknown agent */
  settingsOf(agentId: string): Promise<unknown>
  instanceId: string
  clock: Clock
}

/**
 * Finds the other process that holds the session of a request; undefined if it is this one, or none.
 * @throws AppError CONFLICT if that process has stored no address.
 */
export function createHolderOf({ held, agentDatabases, settingsOf, instanceId, clock }: Dependencies) {
  return async (request: FastifyRequest): Promise<Holder | undefined> => {
    const sessionId = sessionOf(request)
    const agentId = agentOfSession(sessionId)
    if (agentId === undefined || held.find(agentId, sessionId) !== undefined) return undefined
    // The address of a channel names no agent, so the agent was not checked before.
    if (request.ws && !(await isKnown(settingsOf(agentId)))) return undefined
    const find = (db: Parameters<typeof findHolder>[0]) => findHolder(db, sessionId, timestamp(clock))
    const holder = request.ws
      ? await agentDatabases.use(agentId, ({ db }) => find(db))
      : await find(request.agent.db)
    if (holder === undefined || holder.instanceId === instanceId) return undefined
    const { replicaUrl } = holder
    if (replicaUrl === undefined) throw conflict(heldElsewhere)
    return { ...holder, replicaUrl }
  }
}

/** Forwards requests of marked routes to their sessions' holders; call it before registering routes. */
export function passToHolder(
  app: App,
  { sign, isSigned }: SignedRequests,
  holderOf: (request: FastifyRequest) => Promise<Holder | undefined>,
): void {
  const sockets = new Set<Socket>()
  app.addHook('preClose', done => {
    for (const socket of sockets) socket.destroy()
    done()
  })
  app.addHook('onRoute', route => {
    if (route.config?.atHolder !== true) return
    route.preParsing = (request, reply, body, done) => {
      const pass = async () => {
        // A forwarded request is never forwarded again.
        const holder = isSigned(request) ? undefined : await holderOf(request)
        if (holder === undefined) {
          done(null, body)
          return
        }
        const destination = { url: holder.replicaUrl, signature: sign(request, holder.instanceId) }
        const socket = await passOn(request, reply, body, destination)
        if (socket === undefined) return
        sockets.add(socket)
        socket.on('close', () => sockets.delete(socket))
      }
      pass().catch(error => done(error instanceof NoAnswer ? asAppError(error) : error))
    }
  })
}

function sessionOf(request: FastifyRequest): string {
  const { sessionId } = request.params as { sessionId?: string }
  return sessionId ?? parametersOf(request).get(request.ws ? 'sessionId' : 'id') ?? ''
}

function isKnown(settings: Promise<unknown>): Promise<boolean> {
  return settings.then(
    () => true,
    error => {
      if (error instanceof AppError && error.code === 'NOT_FOUND') return false
      throw error
    },
  )
}

function asAppError(error: NoAnswer): AppError {
  const what = error.wasReached
    ? 'ended before it answered, so that what was asked for may have been done'
    : 'cannot be reached at its REPLICA_URL'
  return new AppError(
    'BROWSER_FAILED',
    `The process that holds the browser session ${what}. If it has died, the session becomes "error" within a minute: open a new one then.`,
    { cause: error },
  )
}
