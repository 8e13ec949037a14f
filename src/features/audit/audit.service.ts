import { Readable } from 'node:stream'
import type { Kysely } from 'kysely'
import { csvLine } from '#platform/http/responses/csv.ts'
import type { LateJobs } from '#platform/jobs/late-jobs.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { PlatformTables } from '#storage/tables.ts'
import type { AuditRow, Scope } from './audit.repository.ts'
import { insertAuditRow, listAudit, readAudit } from './audit.repository.ts'
import type { AuditEntry, AuditQuery } from './audit.schema.ts'

/** The name of the jobs that are rows of the audit log, on their way from an agent's database to that of the platform. */
export const rowJob = 'audit'
export const rowLane = 'timers'

const rowsMoved = 200

export function createAuditService(platform: Kysely<PlatformTables>, lateRows: LateJobs) {
  return {
    /** Moves all rows that wait in the agent's database; each arrives once, however often it is moved. */
    async collect({ agentId, db }: Pick<AgentHandle, 'agentId' | 'db'>): Promise<void> {
      lateRows.done(agentId)
      const waiting = db
        .selectFrom('outbox')
        .select(['id', 'payload'])
        .where('lane', '=', rowLane)
        .where('failed_at', 'is', null)
        .where('name', '=', rowJob)
        .limit(rowsMoved)
      for (let found = await waiting.execute(); found.length > 0; found = await waiting.execute()) {
        await inTransaction(
          platform,
          async transaction => {
            for (const { payload } of found)
              await insertAuditRow(transaction, JSON.parse(payload) as AuditRow)
          },
          'read committed',
        )
        const ids = found.map(({ id }) => id)
        await db.deleteFrom('outbox').where('id', 'in', ids).execute()
      }
    },

    async list(scope: Scope, query: AuditQuery) {
      const { rows, meta } = await listAudit(platform, scope, query)
      return { entries: rows.map(entryOf), meta }
    },

    /** All entries that the query chooses, as text. */
    export: (scope: Scope, query: AuditQuery, format: 'ndjson' | 'csv') =>
      Readable.from(write(readAudit(platform, scope, query), format)),
  }
}

export type AuditService = ReturnType<typeof createAuditService>

function entryOf({ actor_kind, actor_id, actor_name, actor_person, changes, ...row }: AuditRow): AuditEntry {
  const { id, created_at, agent_id, address, operation, object, outcome } = row
  return {
    ...{ id, created_at, agent_id },
    actor: { kind: actor_kind, id: actor_id, name: actor_name, person: actor_person },
    ...{ address, operation, object, outcome: outcome as AuditEntry['outcome'] },
    changes: changes === null ? null : JSON.parse(changes),
  }
}

const cells = [
  'created_at',
  'agent_id',
  'actor_kind',
  'actor_id',
  'actor_name',
  'actor_person',
  'address',
  'operation',
  'object',
  'outcome',
  'changes',
  'id',
] as const

async function* write(pages: AsyncIterable<AuditRow[]>, format: 'ndjson' | 'csv'): AsyncGenerator<string> {
  if (format === 'csv') yield `\ufeff${csvLine(cells)}`
  for await (const rows of pages) {
    const lines = rows.map(row =>
      format === 'csv' ? csvLine(cells.map(name => row[name] ?? '')) : `${JSON.stringify(entryOf(row))}\n`,
    )
    yield lines.join('')
  }
}
