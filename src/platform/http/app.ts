import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify'

/** The HTTP application on which features register their routes: Fastify with types taken from the schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/** Which error shape a route answers in; `openai` is that of OpenAI's API. */
export type Area = 'generic' | 'chat' | 'payments' | 'openai'

/**
 * Which rate limit a request counts against; `open` is as many as `general`, for what is no call of the API; `unproven` for
 * services that deliver for many people and count only if they fail to prove themselves (`countAgainst`); `none` for health.
 */
export type LimitClass = 'general' | 'chat' | 'browser' | 'bulk' | 'open' | 'unproven' | 'none'

/**
 * The least a caller must be, declared by every route:
 * `open` everyone, no token is read; `anyone` everyone, but a bad token is refused; `user` a known user;
 * and on an agent, each including the one before: `viewer` reads, `chatter` also chats, `admin` also changes, `owner` also
 * deletes and manages admins.
 */
export type Access = 'open' | 'anyone' | 'user' | 'viewer' | 'chatter' | 'admin' | 'owner'

declare module 'fastify' {
  interface FastifyContextConfig {
    area?: Area
    access?: Access
    limit?: LimitClass
    /** The operation's name in the OpenAPI document, after which clients name their functions. */
    operationId?: string
    /** False for a route on an agent that needs nothing of its database: one that can't be opened is no obstacle. */
    opensAgent?: false
    /** Whether the path names no agent: the handler does, by `openAgent`. */
    findsAgent?: true
    /** Values that its body may hold; `maxValues` unless given. */
    jsonValues?: number
    /** Whether the route is open to the role `chat`, which is closed out of all others. */
    chat?: true
    /** False for a route that no API key may call, whatever its role. */
    byKey?: false
    /** The path by which an agent may sell this call to callers without a role; `*` for what stands for that in the URL. */
    soldAs?: string
    /** False for a route that stores nothing although its method is not GET: it is served while the disk is full. */
    stores?: false
    /**
     * The rows of the audit log that calls leave. A call of a method other than GET that succeeds leaves one. `refusals`: one that
     * is refused with 401 or 403 does, too. `described`: only one that has changed data, or says what it has changed.
     * `exempt`: none does.
     */
    audit?: 'refusals' | 'described' | 'exempt'
  }
}
