import { Type } from 'typebox'
import { eventOf, type PayloadsOf } from '#platform/jobs/event-payloads.ts'

const source = { source_id: Type.String(), name: Type.String() }

/** Events at the end of work on a source: processing it, or embedding it again. */
export const sourceEvents = {
  'source.ready': eventOf('A source can be searched.', { ...source, chunks: Type.Integer() }),
  'source.error': eventOf('A source could not be processed.', { ...source, error: Type.String() }),
}
export type SourceEvents = PayloadsOf<typeof sourceEvents>
