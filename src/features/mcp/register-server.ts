import { type Clock, timestamp } from '#platform/clock.ts'
import { AppError, conflict, invalid } from '#platform/errors.ts'
import { unstorable } from '#platform/http/requests/storable-text.ts'
import type { Ids } from '#platform/ids.ts'
import { parseTarget } from '#platform/outbound/target-url.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentSecrets } from '#storage/encryption/agent-secrets.ts'
import type { Connections } from './client/connections.ts'
import { type Failure, failureOf, ServerFailure } from './client/failure.ts'
import { saveListing } from './listing/stored-listing.ts'
import { isVisibleName } from './listing/visible-text.ts'
import { countServers, findServerNamed, insertServer, type ServerRow, toServer } from './mcp.repository.ts'
import type { McpServer, NewServer } from './mcp.schema.ts'
import type { ServerAccess } from './server-access.ts'
import type { KnownServer, Listing, ServerListing } from './server-listing.ts'

/** A valid registration, before the first contact with the server. */
export interface Registration {
  name: string
  url: URL
  token: string | undefined
}

/** Reads a registration. Throws VALIDATION_ERROR. Addresses are http(s) only: no command is ever run. */
export function readRegistration({ name, url, auth = { type: 'none' } }: NewServer): Registration {
  const target = parseTarget(url)
  if (!target.ok) throw invalid('url', target.reason)
  // Fragments are for browsers and are not sent to servers.
  target.url.hash = ''
  if (!isVisibleName(name.trim()) || unstorable(name) !== undefined)
    throw invalid('name', 'must not hold line breaks or characters that cannot be seen')
  if (auth.type === 'bearer' && auth.token === undefined)
    throw invalid('auth.token', 'is required with the type "bearer"')
  if (auth.type === 'none' && auth.token !== undefined)
    throw invalid('auth.token', 'is only taken with the type "bearer"')
  return { name: name.trim(), url: target.url, token: auth.token }
}

interface Dependencies {
  access: ServerAccess
  listing: ServerListing
  connections: Connections
  agentSecrets: AgentSecrets
  clock: Clock
  ids: Ids
}

/** The result of the first contact with a server. */
type FirstLook = { listing: Listing } | { failure: Failure }

/** Max servers of one agent. */
const maxServers = 50

/** Registers servers: each is contacted first, so that the person approves the stored definitions. */
export function createRegistering(dependencies: Dependencies) {
  const { access, listing, connections, agentSecrets } = dependencies

  async function lookAt(agent: AgentHandle, server: KnownServer): Promise<FirstLook> {
    try {
      using held = await access.acquire(agent, server, agent.signal)
      return { listing: await listing.read(held.connection, server, agent) }
    } catch (error) {
      if (!(error instanceof ServerFailure)) throw error
      connections.drop(server.row.id)
      // The connection ends with the agent, which is no fault of the server.
      agent.signal.throwIfAborted()
      return { failure: failureOf(error, server.address.token !== undefined) }
    }
  }

  async function store(agent: AgentHandle, row: ServerRow, look: FirstLook): Promise<boolean> {
    return inTransaction(agent.db, async transaction => {
      // Others might have been registered during the contact with this one.
      await requireRoom(transaction, row.name)
      if (!(await insertServer(transaction, row))) return false
      if ('listing' in look) await saveListing(transaction, row.id, look.listing.tools, { isApproved: true })
      return true
    })
  }

  async function requireRoom(database: AgentHandle['db'], name: string): Promise<void> {
    if ((await findServerNamed(database, name)) !== undefined) throw nameTaken(name)
    if ((await countServers(database)) >= maxServers)
      throw conflict(`An agent has at most ${maxServers} MCP servers. Delete one first.`)
  }

  function newRow({ name, url, token }: Registration): ServerRow {
    const now = timestamp(dependencies.clock)
    return {
      id: dependencies.ids.record(),
      name,
      url: url.href,
      auth_type: token === undefined ? 'none' : 'bearer',
      secret_set: null,
      status: 'connected',
      error: null,
      created_at: now,
      updated_at: now,
    }
  }

  return async (agent: AgentHandle, input: NewServer): Promise<McpServer> => {
    const registration = readRegistration(input)
    const { name, url, token } = registration
    await requireRoom(agent.db, name)
    const row = newRow(registration)
    const look = await lookAt(agent, { row, address: { url, token } })
    if ('failure' in look) {
      const { isForbidden, status, reason } = look.failure
      if (isForbidden) throw new AppError('OUTBOUND_REFUSED', reason)
      Object.assign(row, { status, error: reason })
    }
    const secrets = token === undefined ? {} : { token, origin: url.origin }
    row.secret_set = await agentSecrets.write(agent.agentId, secrets)
    let isStored = false
    try {
      isStored = await store(agent, row, look)
    } finally {
      if (!isStored) {
        connections.drop(row.id)
        await agentSecrets.remove(agent.agentId, [row.secret_set])
      }
    }
    if (!isStored) throw nameTaken(name)
    return toServer(row)
  }
}

function nameTaken(name: string): AppError {
  return conflict(`The agent has an MCP server named "${name}" already. Choose another name.`)
}
