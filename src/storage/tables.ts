/**
 * The tables of both databases, with the same names, columns and value formats on every engine: times are ISO 8601 text
 * in UTC with milliseconds, JSON is text, booleans are 0 or 1.
 */
import type { Generated } from 'kysely'
import type { OutboxTables, WakeUpTables } from '#platform/jobs/tables.ts'

/** The single platform database: data that belongs to no agent, or must stay out of reach of an agent's SQL. */
export interface PlatformTables extends WakeUpTables {
  agents: AgentsTable
  agent_admins: AgentAdminsTable
  agent_credentials: AgentCredentialsTable
  agent_secrets: AgentSecretsTable
  agent_removals: AgentRemovalsTable
  platform_facts: FactsTable
  rate_limits: RateLimitsTable
}

/** The tables of each agent's own database. */
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

/** Requests that all processes have admitted: one row per limit and client, until its minute is over. */
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
  /** 1 once its database was created. */
  has_database: Generated<number>
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

/** Secrets that belong to rows of an agent's own database, such as tools: out of reach of that database's SQL. */
interface AgentSecretsTable {
  agent_id: string
  /** Identifies a set of secrets; the row that it belongs to refers to it by this id. */
  set_id: string
  name: string
  /** Ciphertext of the secret box. */
  sealed: string
}

/** Deleted agents whose database still has to be removed. */
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
  /** Fencing token: increases with each lock, and every write of the holder names it. */
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
  /** Generated name under which the upload is stored; null if there is no file. */
  file_path: string | null
  /** JSON object; secrets of it are in the platform database. */
  config: string
  /** The set of its secrets; null without any. */
  secret_set: string | null
  /** JSON object that distinguishes the content found at the last fetch from any other; null while nothing fetched is shown. */
  last_copy: string | null
  created_at: string
  updated_at: string
  /** Since when it has been invisible, while a job removes it; null for all others. */
  removed_at: string | null
  /**
   * The embedding that a job is replacing the chunks' old one with, or, while the source is in error, failed to; null
   * for all others.
   */
  new_embedding: string | null
}

/** Uploads, if they are stored in the database. */
interface FilePartsTable {
  /** Name of the file, as `file_path` of its source. */
  file_id: string
  /** From 0. */
  number: number
  content: Uint8Array
}

interface ChunksTable {
  /** Row number that is shared by the full-text and vector indexes. */
  sequence: Generated<number>
  id: string
  source_id: string
  /** The website page that it is from, as named in `crawl_pages`; empty for a source that is a single document. */
  document: Generated<string>
  content: string
  /** Page counted from 1; null where the format has none. */
  page: number | null
  /** Heading above the text; null without one. */
  section: string | null
  /** Offsets into the source's extracted text, in UTF-16 units: the slice equals `content`. */
  start_offset: number
  end_offset: number
}

/**
 * Which chunks of a document are shown, and the progress of those that will replace them. A source has one row without
 * a document, which says who may write it, and if it is a website, one more for each page.
 */
interface ChunkGenerationsTable {
  source_id: string
  document: Generated<string>
  /** The document's chunks from this sequence up to the next one are shown; none if the first is greater. */
  first_sequence: number
  last_sequence: number
  /** 1 if the document has only chunks that are shown. */
  settled: number
  /** The attempt that has stored all chunks to be shown next; null if there is none. */
  draft: string | null
  /** The run that may write the source's chunks: the writes of any other are refused. */
  attempt: string | null
  /** The document's chunks up to this sequence are in the indexes. */
  indexed_sequence: number
  /** The embedding by whose vectors the shown chunks are found. */
  embedding: Generated<string>
}

/** The pages of crawled websites that search shows: the last good copy of each. */
interface CrawlPagesTable {
  source_id: string
  /** Identifies the page's chunks. Derived from its address, so that reading a page twice gives one page. */
  document: string
  /** The canonical address of the page: after redirects, or the one that it declares as its own. */
  url: string
  /** The address under which the crawl reached it. */
  requested_url: string
  /** Where it was read, after redirects: the validators below belong to this address. */
  fetched_url: string
  etag: string | null
  last_modified: string | null
  /** SHA-256 of its title and text, in hex. */
  content_hash: string
  /** The embedding of its chunks. */
  embedding: string
  /** JSON array of the addresses that it links to, for when the server says that it has not changed. */
  links: string
  chunks: number
}

/** The progress of a crawl: the known addresses, in the order in which they were found. */
interface CrawlQueueTable {
  source_id: string
  /** From 0, the start page. */
  position: number
  url: string
  /** Number of links between the start page and this one. */
  depth: number
  state: string
  /** Why it did not become a page, as a sentence for a person; null for all others. */
  reason: string | null
  /** The page that it led to; null if there is none. */
  document: string | null
}

/** The tools that people have given an agent: HTTP calls, JavaScript, tools of MCP servers. */
interface ToolsTable {
  id: string
  name: string
  description: string
  type: string
  /** JSON object; its secrets are in the platform database. */
  configuration: string
  is_enabled: number
  requires_approval: number
  /** Empty for a tool without a cluster; names are unique within a cluster. */
  cluster: string
  /** The set of its secrets; null without any. */
  secret_set: string | null
  created_at: string
  updated_at: string
}

/** Credentials that the tools of a cluster present to the service they call, as named in its OpenAPI document. */
interface ToolCredentialsTable {
  cluster: string
  name: string
  /** JSON object: how it is presented, see `SecurityScheme`. */
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

/** Tools that an MCP server has listed; those that it no longer lists are kept, so that their approval is not lost. */
interface McpToolsTable {
  server_id: string
  name: string
  description: string
  /** JSON Schema of the arguments. */
  parameters: string
  /** Position in the server's list, from 0; null for a tool that is no longer listed. */
  position: number | null
  /** SHA-256 of the definition as the server lists it now, in hex. */
  definition_hash: string
  /** The hash that a person has approved; null for a tool that nobody has reviewed yet. */
  approved_hash: string | null
}

/** Calls that wait for a person's decision, or have had it. */
interface ToolApprovalsTable {
  tool_call_id: string
  /** The answer that contains the call. */
  message_id: string
  conversation_id: string
  name: string
  /** JSON object. */
  arguments: string
  /** The tool as it was when the call was requested. */
  tool_version: string
  status: string
  created_at: string
  decided_at: string | null
}
