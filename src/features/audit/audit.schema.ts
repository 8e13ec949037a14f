import type { Static } from 'typebox'
import { Type } from 'typebox'
import { filterBy, listMetaSchema, listParameters } from '#platform/http/lists/list-query.ts'
import { orNull } from '#platform/own-schemas.ts'

const nullable = orNull(Type.String())

export const auditEntrySchema = Type.Object(
  {
    id: Type.String(),
    created_at: Type.String({ format: 'date-time' }),
    agent_id: nullable,
    actor: Type.Object({
      kind: Type.String({ description: 'Who has acted: `person`, `key`, `model`, … (docs/audit.md)' }),
      id: nullable,
      name: nullable,
      person: nullable,
    }),
    address: nullable,
    operation: Type.String({
      description: 'The operation of this API, or the tool that a model has called.',
    }),
    object: nullable,
    outcome: Type.Enum(['done', 'refused', 'failed']),
    changes: orNull(Type.Record(Type.String(), Type.Unknown())),
  },
  { title: 'AuditEntry' },
)
export type AuditEntry = Static<typeof auditEntrySchema>

export const auditListSchema = Type.Object({ entries: Type.Array(auditEntrySchema), meta: listMetaSchema })

export const auditQuerySchema = Type.Object({
  ...listParameters,
  actor: filterBy(Type.String()),
  actor_kind: filterBy(Type.String()),
  operation: filterBy(Type.String()),
  object: filterBy(Type.String()),
  outcome: filterBy(Type.Enum(['done', 'refused', 'failed'])),
  format: Type.Optional(
    Type.Enum(['json', 'ndjson', 'csv'], {
      description: '`ndjson` and `csv` return all entries. Default: `json`.',
    }),
  ),
})
export type AuditQuery = Static<typeof auditQuerySchema>
