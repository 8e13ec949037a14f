import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from './app.ts'
import { whenClosed } from './closing.ts'

/** A gate before the response to one request, whose caller needs no role to pass it. */
export interface Gate {
  /** Identity of the caller, proven by `check`. */
  caller: string
  /** Identity of the passage: a request that is repeated after a failure has the same. */
  key: string
  /** Called once the request is valid. Throws if its caller can't pass. */
  check(): Promise<void>
  /**
   * Lets the caller pass, once. Called before the response is sent, or earlier by a handler when nothing else
   * can prevent the response. Returns the gate's proof of the passage; throws if the caller is refused.
   */
  before(): Promise<unknown>
  /** Called at the end of the response, or earlier by a handler that knows the end; the first call counts. */
  after(end: AnswerEnd): void
}

/** The end of a response; an unfinished one is continued whenever the request is repeated. */
export type AnswerEnd = 'served' | 'failed' | 'unfinished'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set if the caller passes a gate instead of having a role. */
    gate?: Gate
  }
}

/** Applies the gates of requests. */
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

/** Returns the gate before a request; undefined if there is none. Throws if the request is refused before. */
export type FindGate = (request: FastifyRequest, reply: FastifyReply) => Promise<Gate | undefined>
