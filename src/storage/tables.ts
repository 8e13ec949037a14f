/**
 * The tables of both databases, with equal names, columns and value forms on every engine:
 * times are ISO 8601 text in UTC with milliseconds, JSON is text, truth is 0 or 1.
 */
import type { Generated } from 'kysely'
import type { OutboxTables, WakeUpTables } from '#platform/jobs/tables.ts'

/** The one platform database: what belongs to no agent, or must stay out of reach of an agent's SQL. */
export interface PlatformTables extends WakeUpTables {
  agents: AgentsTable
  agent_admins: AgentAdminsTable
  agent_credentials: AgentCredentialsTable
  agent_secrets: AgentSecretsTable
  agent_removals: AgentRemovalsTable
  platform_facts: FactsTable
  rate_limits: RateLimitsTable
}

/** The database that each agent has for itself. */
export interface AgentTables extends OutboxTables {
  conversations: ConversationsTable
  messages: MessagesTable
  sources: SourcesTable
  file_parts: FilePartsTable
  chunks: ChunksTable
  chunk_generations: ChunkGenerationsTable
  crawl_pages: CrawlPagesTable
  crawl_queue: CrawlQueueTable
  tools: ToolsTable
  tool_credentials: ToolCredentialsTable
  mcp_servers: McpServersTable
  mcp_tools: McpToolsTable
  tool_approvals: ToolApprovalsTable
  agent_facts: FactsTable
}

/** What all processes have let through: one row for each limit and client, until its minute is over. */
interface RateLimitsTable {
  key: string
  points: number
  expires_at: string
}

interface AgentsTable {
  id: string
  name: string
  /** The name in lower case: unique, so that no two agents differ by letter case alone. */
  name_key: string
  description: string
  status: string
  /** JSON object of the settings keys that are set; credentials are never among them. */
  settings: string
  created_at: string
  updated_at: string
}

interface AgentAdminsTable {
  id: string
  agent_id: string
  /** Lower case. */
  email: string
  role: string
  created_at: string
}

interface AgentCredentialsTable {
  agent_id: string
  name: string
  /** Ciphertext of the secret box. */
  sealed: string
}

/** Secrets of what an agent's own database holds, such as its tools: out of reach of that database's SQL. */
interface AgentSecretsTable {
  agent_id: string
  /** Names one set of secrets: the row that it belongs to carries this. */
  set_id: string
  name: string
  /** Ciphertext of the secret box. */
  sealed: string
}

/** Agents that were deleted, whose database is still to be removed. */
interface AgentRemovalsTable {
  agent_id: string
}

/** Single values by name, such as the check value of the encryption key. */
interface FactsTable {
  name: string
  value: string
}

interface ConversationsTable {
  id: string
  title: string
  message_count: number
  last_message_at: string | null
  created_at: string
  /** The process that holds the lock; null while unlocked. */
  lock_holder: string | null
  /** Fencing token: grows with each lock, and every write of the holder names it. */
  lock_token: number
  lock_expires_at: string | null
}

interface MessagesTable {
  /** Order of arrival, unique in the database. */
  sequence: Generated<number>
  id: string
  conversation_id: string
  role: string
  content: string
  /** JSON arrays and object, or null. */
  tool_calls: string | null
  tool_results: string | null
  metadata: string | null
  created_at: string
}

interface SourcesTable {
  id: string
  type: string
  name: string
  status: string
  /** What went wrong, as a sentence for a person; null unless `status` is `error`. */
  error: string | null
  /** 0 to 1. */
  progress: number
  /** Number of chunks; null until processed. */
  chunks: number | null
  /** Name under which the upload is stored, made by us; null for what is no file. */
  file_path: string | null
  /** JSON object; secrets of it are in the platform database. */
  config: string
  /** The set of its secrets; null without any. */
  secret_set: string | null
  /** JSON object that tells the content found at the last fetch from any other; null while nothing fetched is shown. */
  last_copy: string | null
  created_at: string
  updated_at: string
  /** Since when nobody sees it any more, while a job takes it apart; null for all others. */
  removed_at: string | null
  /**
   * Names the embedding that a job is giving the chunks in the place of their old one, or, while the source is in error,
   * could not give them; null for all others.
   */
  new_embedding: string | null
}

/** Uploads, where the database is what keeps them. */
interface FilePartsTable {
  /** Name of the file, as `file_path` of its source. */
  file_id: string
  /** From 0. */
  number: number
  content: Uint8Array
}

interface ChunksTable {
  /** Row number that the full-text and vector indexes share. */
  sequence: Generated<number>
  id: string
  source_id: string
  /** The page of a website that it is from, as `crawl_pages` names it; empty for a source that is one document. */
  document: Generated<string>
  content: string
  /** Page counted from 1; null where the format has none. */
  page: number | null
  /** Heading under which the text stands; null without one. */
  section: string | null
  /** Offsets in UTF-16 units into the source's extracted text: its slice equals `content`. */
  start_offset: number
  end_offset: number
}

/**
 * Which chunks of a document are shown, and how far those that shall take their place have come. A source has a row
 * without a document, which tells who may write it, and one more for each page if it is a website.
 */
interface ChunkGenerationsTable {
  source_id: string
  document: Generated<string>
  /** The document's chunks from this sequence to the next one are shown; none where the first is the greater. */
  first_sequence: number
  last_sequence: number
  /** 1 when the document has no other chunks than those shown. */
  settled: number
  /** Names the attempt that has stored all chunks which are to be shown next; null while there is none such. */
  draft: string | null
  /** Names the run that may write the source's chunks: every other's writes are refused. */
  attempt: string | null
  /** The document's chunks up to this sequence are in the indexes. */
  indexed_sequence: number
  /** Names the embedding by whose vectors the shown chunks are found. */
  embedding: Generated<string>
}

/** The pages of crawled websites that search shows: of each the last good copy. */
interface CrawlPagesTable {
  source_id: string
  /** Names the page's chunks: made from its address, so that a page that is read twice is one. */
  document: string
  /** The address that the page goes by: after redirects, or the one that it names as its own. */
  url: string
  /** The address by which the crawl came to it. */
  requested_url: string
  /** Where it was read, after redirects: what the validators below belong to. */
  fetched_url: string
  etag: string | null
  last_modified: string | null
  /** SHA-256 of its title and text, in hex. */
  content_hash: string
  /** Names the embedding of its chunks. */
  embedding: string
  /** JSON array of the addresses that it links to, for the day on which it says that nothing has changed. */
  links: string
  chunks: number
}

/** How far a crawl has come: the addresses that it knows of, in the order in which it met them. */
interface CrawlQueueTable {
  source_id: string
  /** From 0, the start page. */
  position: number
  url: string
  /** Links away from the start page. */
  depth: number
  state: string
  /** Why it became no page, as a sentence for a person; null for all others. */
  reason: string | null
  /** The page that it turned out to be; null if there is none. */
  document: string | null
}

/** What an agent may do, as people have set it up: HTTP calls, JavaScript, tools of MCP servers. */
interface ToolsTable {
  id: string
  name: string
  description: string
  type: string
  /** JSON object; its secrets are in the platform database. */
  configuration: string
  is_enabled: number
  requires_approval: number
  /** Empty for a tool that belongs to none; a name is used once in a cluster. */
  cluster: string
  /** The set of its secrets; null without any. */
  secret_set: string | null
  created_at: string
  updated_at: string
}

/** What the tools of a cluster have to show to the service that they call, as its OpenAPI document names it. */
interface ToolCredentialsTable {
  cluster: string
  name: string
  /** JSON object: how it is shown, see `SecurityScheme`. */
  scheme: string
  /** The set of its secrets; null until a person has filled it in. */
  secret_set: string | null
  created_at: string
  updated_at: string
}

interface McpServersTable {
  id: string
  name: string
  url: string
  auth_type: string
  /** The set of its secrets; null without any. */
  secret_set: string | null
  status: string
  /** Why the last attempt to reach it failed, as a sentence for a person; null if it did not. */
  error: string | null
  created_at: string
  updated_at: string
}

/** Tools that an MCP server has told of; those that it no longer tells of stay, so that their approval is not lost. */
interface McpToolsTable {
  server_id: string
  name: string
  description: string
  /** JSON Schema of the arguments. */
  parameters: string
  /** Place in the server's list, from 0; null for a tool that is not on it any more. */
  position: number | null
  /** SHA-256 of the definition as the server tells it now, in hex. */
  definition_hash: string
  /** The hash that a person has agreed to; null for a tool that nobody has seen yet. */
  approved_hash: string | null
}

/** Calls that wait for a person's word, or have had it. */
interface ToolApprovalsTable {
  tool_call_id: string
  /** The answer that the call stands in. */
  message_id: string
  conversation_id: string
  name: string
  /** JSON object. */
  arguments: string
  /** The tool as it was when the call was asked for. */
  tool_version: string
  status: string
  created_at: string
  decided_at: string | null
}
