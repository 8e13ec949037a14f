/**
 * The tables of both databases, with the same names, columns and value formats on every engine: times are ISO 8601 text
 * in UTC with milliseconds, JSON is text, booleans are 0 or 1.
 */
import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { RowOf } from '#platform/columns.ts'
import type { SchemaParts } from './schema-parts.ts'
import { accessTables } from './tables/access.ts'
import { agentRecordTables } from './tables/agents.ts'
import { attentionIndexes } from './tables/attention.ts'
import { auditRowTables, auditTables } from './tables/audit.ts'
import { browserRecordingTables, browserTables } from './tables/browser.ts'
import { calendarTables } from './tables/calendar.ts'
import { channelTables } from './tables/channels.ts'
import { chatTables, conversationShareIndex } from './tables/chat.ts'
import { chatFileTables } from './tables/chat-files.ts'
import { contactAddressTables } from './tables/contact-addresses.ts'
import { contactTables } from './tables/contacts.ts'
import { crawlTables, pageTextTables } from './tables/crawls.ts'
import { agentFactTables, platformFactTables } from './tables/facts.ts'
import { keyTables } from './tables/keys.ts'
import { knowledgeTables } from './tables/knowledge.ts'
import { mcpTables } from './tables/mcp.ts'
import { noticeTables } from './tables/notices.ts'
import { openAiTables } from './tables/openai.ts'
import { outboxSuspects, outboxTables } from './tables/outbox.ts'
import { paymentClaimTables } from './tables/payment-claims.ts'
import { deliveryTables, earlyChangeTables, paymentTables } from './tables/payments.ts'
import { peopleTables } from './tables/people.ts'
import { rateLimitTables } from './tables/rate-limits.ts'
import { scheduleTables } from './tables/schedules.ts'
import { signInTables } from './tables/sign-in.ts'
import { sourceTables } from './tables/sources.ts'
import { columnsOnly, type TableSet } from './tables/table-set.ts'
import { toolTables } from './tables/tools.ts'
import { turnTables } from './tables/turns.ts'
import { usageIndexes, usageTables } from './tables/usage.ts'
import { wakeUpTables } from './tables/wake-ups.ts'
import { webhookTables } from './tables/webhooks.ts'
import { workflowTables } from './tables/workflows.ts'

/** Tables by migration, whose names define the order and must not change once released. */
export const platformTables = {
  '0001-platform-facts': platformFactTables,
  '0002-agents': agentRecordTables,
  '0003-access': accessTables,
  '0004-wake-ups': wakeUpTables,
  '0005-rate-limits': rateLimitTables,
  '0006-payments': paymentClaimTables,
  '0026-keys': keyTables,
  '0027-sign-in': signInTables,
  '0028-audit': auditTables,
  '0036-usage': usageTables,
  '0044-people': peopleTables,
  '0047-platform-usage': usageIndexes,
}

/** The tables of each agent's own database, by migration likewise. */
export const agentTables = {
  '0001-agent-facts': agentFactTables,
  '0002-outbox': outboxTables,
  '0003-chat': chatTables,
  '0004-sources': sourceTables,
  '0005-crawls': crawlTables,
  '0006-knowledge': knowledgeTables,
  '0007-tools': toolTables,
  '0008-mcp': mcpTables,
  '0009-contacts': contactTables,
  '0010-channels': channelTables,
  '0011-webhooks': webhookTables,
  '0012-workflows': workflowTables,
  '0013-schedules': scheduleTables,
  '0014-calendar': calendarTables,
  '0015-browser': browserTables,
  '0016-payments': paymentTables,
  '0017-browser-recordings': browserRecordingTables,
  '0018-conversation-authors': columnsOnly,
  '0019-outbox-suspects': outboxSuspects,
  '0020-contact-addresses': contactAddressTables,
  '0021-payment-reversals': columnsOnly,
  '0022-channel-edits': columnsOnly,
  '0023-readable-runs': columnsOnly,
  '0024-deliveries': deliveryTables,
  '0025-early-payment-changes': earlyChangeTables,
  '0026-page-texts': pageTextTables,
  '0027-attention': attentionIndexes,
  '0029-openai-trails': openAiTables,
  '0032-authors': columnsOnly,
  '0033-mcp-approved': columnsOnly,
  '0034-turns': turnTables,
  '0035-chat-files': chatFileTables,
  '0036-usage': columnsOnly,
  '0037-feedback': columnsOnly,
  '0038-waiting-turns': columnsOnly,
  '0039-source-warnings': columnsOnly,
  '0040-channel-files': columnsOnly,
  '0041-audit-rows': auditRowTables,
  '0042-notices': noticeTables,
  '0046-conversation-shares': conversationShareIndex,
}

type AnySets = Readonly<Record<string, TableSet<unknown, unknown>>>

/** The rows of the tables of all sets, by table. */
type RowsOf<Sets extends AnySets> = RowsByTable<Joined<Sets[keyof Sets]['columns']>>
type RowsByTable<Tables> = { [Name in keyof Tables]: RowOf<Tables[Name]> }
/** A union of objects as one object with the members of all. */
type Joined<Union> = (Union extends unknown ? (member: Union) => void : never) extends (
  member: infer All,
) => void
  ? All
  : never

export type PlatformTables = RowsOf<typeof platformTables>
export type AgentTables = RowsOf<typeof agentTables>
/** The database of one agent, or a transaction in it. */
export type AgentDatabase = Kysely<AgentTables>

export const platformRules = rulesOf(platformTables)
export const agentRules = rulesOf(agentTables)

function rulesOf<Rules>(
  sets: Record<string, { rules: Readonly<Record<string, Rules>> }>,
): Record<string, Rules> {
  return Object.assign({}, ...Object.values(sets).map(({ rules }) => rules))
}

/** Returns a migration per set: it creates the tables, and adds columns of earlier sets that name it. */
export function migrationsOf(sets: AnySets, parts: SchemaParts): Record<string, Migration> {
  const migration = (name: string, set: AnySets[string]): Migration => ({
    async up(db) {
      await set.create(db, parts)
      for (const each of Object.values(sets)) await each.extend(name, db, parts)
    },
  })
  return Object.fromEntries(Object.entries(sets).map(([name, set]) => [name, migration(name, set)]))
}
