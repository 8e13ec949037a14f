import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from './app.ts'
import { whenClosed } from './closing.ts'

/** Stands before the answer to one request, whose caller needs no role to pass it. */
export interface Gate {
  /** Identity of the caller, proven by `check`. */
  caller: string
  /** Identity of the passage: a request that is repeated after it failed has the same. */
  key: string
  /** Called once the request is valid. Throws if its caller can't pass. */
  check(): Promise<void>
  /**
   * Has the caller pass, once. Called before the answer is sent, or earlier by a handler for which nothing else can prevent
   * the answer any more. Returns what the gate has to show for it; throws if the caller may not pass.
   */
  before(): Promise<unknown>
  /** Called at the end of the answer, or earlier by a handler that knows how it ends; the first call counts. */
  after(end: AnswerEnd): void
}

/** An unfinished answer is continued when the request is repeated, however often. */
export type AnswerEnd = 'served' | 'failed' | 'unfinished'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set where the caller passes a gate in the place of a role. */
    gate?: Gate
  }
}

/** Has requests pass their gates. */
export function registerGates(app: App): void {
  app.decorateRequest('gate')
  app.addHook('preHandler', ({ gate }, reply, done) => {
    if (gate === undefined) return done()
    whenClosed(reply, isSent => gate.after(isSent && reply.statusCode < 400 ? 'served' : 'failed'))
    gate.check().then(() => done(), done)
  })
  app.addHook('onSend', ({ gate }, reply, payload, done) => {
    if (gate === undefined || reply.statusCode >= 400) return done(null, payload)
    gate.before().then(() => done(null, payload), done)
  })
}

/** The gate before a request; undefined if there is none. Throws if the request is not even let near it. */
export type FindGate = (request: FastifyRequest, reply: FastifyReply) => Promise<Gate | undefined>
