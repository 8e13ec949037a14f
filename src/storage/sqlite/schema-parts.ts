import type { SchemaParts } from '../engine.ts'
import { createFullText } from './full-text.ts'

export const schemaParts: SchemaParts = {
  sequenceType: 'integer',
  sequenceReference: 'integer',
  sequence: column => column.primaryKey().autoIncrement(),
  createFullText,
}
