import { AppError } from '#platform/errors.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentSecrets } from '#storage/encryption/agent-secrets.ts'
import { type ClientLimits, type Connection, connect } from './client/connect.ts'
import type { Connections, HeldConnection } from './client/connections.ts'
import { type Failure, failureOf, ServerFailure } from './client/failure.ts'
import type { ServerAddress } from './client/server-fetch.ts'
import type { ServerRow } from './mcp.repository.ts'
import type { KnownServer, Listing, ServerListing } from './server-listing.ts'

interface Dependencies {
  agentSecrets: AgentSecrets
  connections: Connections
  listing: ServerListing
  /** The guard's `fetch`. */
  outboundFetch: typeof fetch
  limits: ClientLimits
  /** Name and version of this program for servers. */
  version: string
}

/** A server that was not usable; the message is a sentence for people and models. */
export class ServerUnusable extends AppError {
  constructor(name: string, { reason }: Failure, cause?: unknown) {
    super('OUTBOUND_FAILED', `The MCP server "${name}" cannot be used. ${reason}`, { cause })
  }
}

interface UsableServer {
  connection: Connection
  token: string | undefined
  /** The listing, if it was read for this use. */
  listing: Listing | undefined
}

/** Work on a connection whose server's list has been read. */
interface Work<Result> {
  /** True to read the list again in any case. */
  wantsList?: boolean
  run(server: UsableServer): Promise<Result>
  signal: AbortSignal
}

const otherAddress: Failure = {
  status: 'error',
  reason: 'Its address or token is not the one that it was registered with. Register it again.',
  isForbidden: false,
}

type Outcome<Result> = { result: Result } | { error: ServerUnusable; mayRepeat: boolean }

/** Uses servers: connects, first reads outdated lists, reconnects. */
export function createServerAccess(dependencies: Dependencies) {
  const { agentSecrets, connections, listing, limits, outboundFetch, version } = dependencies

  const acquire = (agent: AgentHandle, { row, address }: KnownServer, signal: AbortSignal) =>
    connections.acquire(
      agent,
      row.id,
      closing => connect({ outboundFetch, server: address, limits, version, closing }),
      signal,
    )

  /** Returns the address, with the token only for its origin: the agent's database might name another. */
  async function addressOf(agent: AgentHandle, row: ServerRow): Promise<ServerAddress> {
    const { token, origin } = await agentSecrets.read(agent.agentId, row.secret_set)
    const url = URL.parse(row.url)
    const hasToken = row.auth_type === 'bearer'
    if (url !== null && hasToken === (token !== undefined) && (!hasToken || origin === url.origin))
      return { url, token }
    await listing.note(agent, row, otherAddress)
    throw new ServerUnusable(row.name, otherAddress)
  }

  async function attempt<Result>(
    agent: AgentHandle,
    server: KnownServer,
    { run, wantsList = false, signal }: Work<Result>,
  ): Promise<Outcome<Result>> {
    const { token } = server.address
    let held: HeldConnection | undefined
    let isReady = false
    try {
      held = await acquire(agent, server, signal)
      const { connection } = held
      const fresh = await listing.upToDate(agent, server, connection, { isWanted: wantsList, signal })
      isReady = true
      return { result: await run({ connection, token, listing: fresh }) }
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof ServerFailure)) throw error
      const failure = failureOf(error, token !== undefined)
      held?.retire()
      const mayRepeat = held?.isOld === true && (!isReady || isUntouched(failure, held.connection))
      // A refused call is no evidence about the server; an unanswered one is.
      const isOfServer = !isReady || (failure.status === 'disconnected' && !mayRepeat)
      if (isOfServer) await listing.note(agent, server.row, failure)
      return { error: new ServerUnusable(server.row.name, failure, error), mayRepeat }
    } finally {
      held?.[Symbol.dispose]()
    }
  }

  return {
    /** Opens a connection to a server for the first contact. @throws ServerFailure */
    acquire,

    /**
     * Does the work, and again on a new connection if the old one was lost before the server could begin.
     * @throws ServerUnusable, and errors of the work.
     */
    async use<Result>(agent: AgentHandle, row: ServerRow, work: Work<Result>): Promise<Result> {
      const server = { row, address: await addressOf(agent, row) }
      const first = await attempt(agent, server, work)
      if ('result' in first) return first.result
      const last = first.mayRepeat ? await attempt(agent, server, work) : first
      if ('result' in last) return last.result
      throw last.error
    },
  }
}

export type ServerAccess = ReturnType<typeof createServerAccess>

/** True if a retry is safe. A server without sessions cannot have lost one: its refusal is an answer. */
function isUntouched({ untouched }: Failure, { hasSession }: Connection): boolean {
  return untouched === 'not reached' || (untouched === 'turned away' && hasSession)
}
