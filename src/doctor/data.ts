import type { Kysely } from 'kysely'
import type { Configuration } from '#configuration/configuration.ts'
import { hasSignedIn } from '#infrastructure/first-sign-in.ts'
import { findNamedAgents } from '#infrastructure/named-agents.ts'
import { appliedMigrations } from '#storage/migrate.ts'
import { type AgentTables, type PlatformTables, platformTables } from '#storage/tables.ts'

/** The parts of the data that show what other people may do. */
export interface DataFacts {
  agents: AgentFacts[]
  /** True if a person has ever signed in by a link or an identity provider. */
  hasSignedIn: boolean
  /** The agents in `OIDC_ROLES` that do not exist. */
  missingAgents: string[]
  /** Names of the API keys that never expire and may change agents. */
  lastingKeys: string[]
  /** Names of the migrations that the next start runs, because an earlier version wrote the data. */
  pendingMigrations: string[]
}

/** An agent that people without a role can talk to. */
export interface AgentFacts {
  name: string
  /** True if callers without a user can reach it, within PUBLIC_ACCESS. */
  isPublic: boolean
  /** True if everyone can write to it by a messenger, instead of only its contacts. */
  hasOpenChannels: boolean
  /** Names of the enabled tools that act outside or run code without approval. */
  actingTools: string[]
  /** True if its model can write to its database. */
  writesSql: boolean
  /** True if its model can use browsers. */
  hasBrowser: boolean
}

export interface DataReader {
  platform: Kysely<PlatformTables>
  /** Calls `work` with the agent's database. */
  withAgent<Result>(agentId: string, work: (db: Kysely<AgentTables>) => Promise<Result>): Promise<Result>
}

const mostAgents = 100

/** Reads the agent `default` and those that open a channel to everyone, at most 100. */
export async function readData(
  { platform, withAgent }: DataReader,
  { oidc }: Pick<Configuration, 'oidc'>,
): Promise<DataFacts> {
  const applied = await appliedMigrations(platform)
  const pendingMigrations = Object.keys(platformTables).filter(name => !applied.has(name))
  const rows = await platform
    .selectFrom('agents')
    .select(['id', 'name', 'settings'])
    .where(({ or, eb }) =>
      or([eb('id', '=', 'default'), eb('settings', 'like', '%"channel_senders":"everyone"%')]),
    )
    .orderBy('created_at')
    .limit(mostAgents)
    .execute()
  const agents: AgentFacts[] = []
  for (const { id, name, settings } of rows) {
    const { channel_senders, sql_tool_writes, browser_tools } = JSON.parse(settings) as Record<
      string,
      unknown
    >
    agents.push({
      name,
      isPublic: id === 'default',
      hasOpenChannels: channel_senders === 'everyone',
      actingTools: await withAgent(id, readActingTools),
      writesSql: sql_tool_writes === true,
      hasBrowser: browser_tools === true,
    })
  }
  const lastingKeys = applied.has('0026-keys') ? await readLastingKeys(platform) : []
  const written = oidc?.roles.map(({ agent }) => agent) ?? []
  const named = await findNamedAgents(platform, written)
  const missingAgents = [...new Set(written)].filter(agent => !named.has(agent))
  return {
    agents,
    hasSignedIn: await hasSignedIn(platform),
    missingAgents,
    lastingKeys,
    pendingMigrations,
  }
}

async function readLastingKeys(platform: Kysely<PlatformTables>): Promise<string[]> {
  const keys = await platform
    .selectFrom('api_keys')
    .select('name')
    .where('revoked_at', 'is', null)
    .where('expires_at', 'is', null)
    .where(({ or, eb }) => or([eb('role', 'is', null), eb('role', 'in', ['admin', 'owner'])]))
    .orderBy('name')
    .execute()
  return keys.map(({ name }) => name)
}

async function readActingTools(db: Kysely<AgentTables>): Promise<string[]> {
  const tools = await db
    .selectFrom('tools')
    .select(['name', 'type', 'configuration'])
    .where('is_enabled', '=', 1)
    .where('requires_approval', '=', 0)
    .orderBy('name')
    .execute()
  return tools.filter(acts).map(({ name }) => name)
}

/** HTTP tools that only read, and code that reaches nothing outside its sandbox, change nothing. */
function acts({ type, configuration }: { type: string; configuration: string }): boolean {
  const { method = 'GET', code = '' } = JSON.parse(configuration) as { method?: string; code?: string }
  if (type === 'http') return !['GET', 'HEAD'].includes(method.toUpperCase())
  return type !== 'javascript' || /\bfetch\b/.test(code)
}
