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

/** The error shape of a route's responses; `openai` is that of OpenAI's API. */
export type Area = 'generic' | 'chat' | 'payments' | 'openai'

/**
 * The rate limit of a request; `open` has the number of `general`, for requests that call no API; `unproven`
 * is for services that deliver for many and count only without a proof (`countAgainst`); `none` for health.
 */
export type LimitClass = 'general' | 'chat' | 'browser' | 'bulk' | 'open' | 'unproven' | 'none'

/**
 * The min rights of a caller, declared by every route:
 * `open` everyone, no token is read; `anyone` everyone, but a bad token is refused; `user` a known user; and
 * on an agent, each including the one before: `viewer` reads, `chatter` also chats, `admin` also changes,
 * `owner` also deletes and manages admins.
 */
export type Access = 'open' | 'anyone' | 'user' | 'viewer' | 'chatter' | 'admin' | 'owner'

declare module 'fastify' {
  interface FastifyContextConfig {
    area?: Area
    access?: Access
    limit?: LimitClass
    /** The operation's name in the OpenAPI document, after which clients name their functions. */
    operationId?: string
    /** False for a route of an agent that works even if the agent's database can't be opened. */
    opensAgent?: false
    /** True if the path names no agent and the handler calls `openAgent`. */
    findsAgent?: true
    /** Max values in its body; defaults to `maxValues`. */
    jsonValues?: number
    /** True if the route is open to the role `chat`, which most routes refuse. */
    chat?: true
    /** False for a route that no API key may call, in any role. */
    byKey?: false
    /** The path under which a call may be sold to callers without a role; `*` is a variable part. */
    soldAs?: string
    /** False for a route that stores nothing although its method is not GET: it is served while the disk is full. */
    stores?: false
    /**
     * The audit log's rows of calls. Defaults to one row for each successful call of a method other than GET.
     * `refusals`: also for one refused with 401 or 403. `described`: only for one that changed data, or
     * describes a change. `exempt`: none.
     */
    audit?: 'refusals' | 'described' | 'exempt'
  }
}
