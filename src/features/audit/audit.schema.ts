import { type Static, Type } from 'typebox'
import { filterBy, listMetaSchema, listParameters } from '#platform/http/lists/list-query.ts'
import { orNull } from '#platform/own-schemas.ts'
import { auditTables } from '#storage/tables/audit.ts'
import type { PlatformTables } from '#storage/tables.ts'

export type AuditRow = PlatformTables['audit_log']
export type Outcome = 'done' | 'refused' | 'failed'

const { audit_log: columns } = auditTables.columns
export const auditFields = Object.keys(columns) as (keyof AuditRow)[]
const textOf = (field: keyof AuditRow) => (columns[field].isNullable ? orNull(Type.String()) : Type.String())

const entrySchema = Type.Unsafe<Omit<AuditRow, 'changes'> & { changes: object | null }>(
  Type.Object(
    {
      ...Object.fromEntries(auditFields.map(field => [field, textOf(field)])),
      changes: orNull(Type.Record(Type.String(), Type.Unknown())),
    },
    { title: 'AuditEntry', description: 'A change, and who has made it: docs/audit.md.' },
  ),
)
export type AuditEntry = Static<typeof entrySchema>
export const auditListSchema = Type.Object({ entries: Type.Array(entrySchema), meta: listMetaSchema })

export const auditFilters = ['actor_kind', 'actor_id', 'operation', 'object', 'outcome'] as const
const [text, format] = [filterBy(Type.String()), Type.Enum(['json', 'ndjson', 'csv'])]
export const auditQuerySchema = Type.Object({
  ...listParameters,
  actor_kind: text,
  actor_id: text,
  operation: text,
  object: text,
  outcome: text,
  format: Type.Optional({
    ...format,
    description: '`ndjson` and `csv` return all entries. Default: `json`.',
  }),
})
export type AuditQuery = Static<typeof auditQuerySchema>
