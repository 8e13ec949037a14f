import type { SchemaParts } from '../engine.ts'

export const schemaParts: SchemaParts = {
  sequenceType: 'integer',
  sequence: column => column.primaryKey().autoIncrement(),
}
