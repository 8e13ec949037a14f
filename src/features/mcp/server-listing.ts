import { type Clock, timestamp } from '#platform/clock.ts'
import { currentChange } from '#platform/current-change.ts'
import type { Log } from '#platform/logging/log.ts'
import { orAborted } from '#platform/or-aborted.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { Connection } from './client/connect.ts'
import type { Failure } from './client/failure.ts'
import type { ServerAddress } from './client/server-fetch.ts'
import { createListing, type SkippedTool, type ToolDefinition } from './listing/listing.ts'
import { saveListing } from './listing/stored-listing.ts'
import { type ServerRow, updateServerStatus } from './mcp.repository.ts'

export interface Listing {
  tools: ToolDefinition[]
  skipped: SkippedTool[]
}

/** A registered server, or one about to be registered. */
export interface KnownServer {
  row: ServerRow
  address: ServerAddress
}

interface Dependencies {
  /** Max time for a list, all pages together (ms). */
  listMs: number
  clock: Clock
  log: Log
}

/** Reads servers' lists of tools, and stores their status. */
export function createServerListing({ listMs, clock, log }: Dependencies) {
  /** Lists that are being read, so that no call continues without them. */
  const reading = new WeakMap<Connection, Promise<Listing>>()

  /** Returns the server's current tools. @throws ServerFailure */
  async function read(connection: Connection, { row, address }: KnownServer, agent: AgentHandle) {
    const listing = createListing(address.token)
    const limited = AbortSignal.any([agent.signal, AbortSignal.timeout(listMs)])
    // Changes that the server announces after this count again.
    connection.hasNews = false
    try {
      await connection.listTools(listing.take, limited)
    } catch (error) {
      connection.hasNews = true
      throw error
    }
    const { skipped } = listing
    if (skipped.length > 0)
      log.info({ agentId: agent.agentId, serverId: row.id, skipped }, 'tools of an MCP server were left out')
    return { tools: listing.tools(), skipped }
  }

  /** Stores the result of the last attempt to use a server. */
  async function note(agent: AgentHandle, row: ServerRow, failure?: Failure): Promise<void> {
    const status = failure?.status ?? 'connected'
    const error = failure?.reason ?? null
    if (row.status !== status || row.error !== error)
      await updateServerStatus(agent.db, row.id, { status, error, updated_at: timestamp(clock) })
  }

  /** Stores the server's current list, without approving anything. */
  async function refresh(agent: AgentHandle, server: KnownServer, connection: Connection): Promise<Listing> {
    const listing = await read(connection, server, agent)
    // The server has changed the list, not the caller that happened to discover it.
    await currentChange.run(undefined, () =>
      inTransaction(agent.db, transaction =>
        saveListing(transaction, server.row.id, listing.tools, { isApproved: false }),
      ),
    )
    await note(agent, server.row)
    return listing
  }

  return {
    read,
    note,

    /** Reads and stores the list if it might have changed, or on request; otherwise returns undefined. */
    async upToDate(
      agent: AgentHandle,
      server: KnownServer,
      connection: Connection,
      { isWanted, signal }: { isWanted: boolean; signal: AbortSignal },
    ): Promise<Listing | undefined> {
      const underWay = reading.get(connection)
      if (underWay !== undefined) return orAborted(underWay, signal)
      if (!isWanted && !connection.hasNews) return undefined
      const listing = refresh(agent, server, connection).finally(() => reading.delete(connection))
      reading.set(connection, listing)
      return orAborted(listing, signal)
    },
  }
}

export type ServerListing = ReturnType<typeof createServerListing>
