import { Type } from 'typebox'
import type { PayloadsOf } from '#platform/jobs/event-payloads.ts'
import { eventOf } from '#platform/jobs/event-payloads.ts'

const source = { source_id: Type.String(), name: Type.String() }

/** How work on a source ends: processing it, or giving its chunks another embedding. */
export const sourceEvents = {
  'source.ready': eventOf('A source can be searched.', { ...source, chunks: Type.Integer() }),
  'source.error': eventOf('A source could not be processed.', { ...source, error: Type.String() }),
}
export type SourceEvents = PayloadsOf<typeof sourceEvents>
