/**
 * Markers by which a test says what of the specification it proves: written into the title of a `describe` or `it`
 * with literal arguments, as in `` it(`${row('GET /api/agents')} lists by name`, …) ``.
 */
import type { ChannelId } from './channels.ts'
import type { KnownErrorArea, StatusIn } from './error-rows.ts'
import type { LimitName } from './limits.ts'
import type { RowId } from './rest-rows.ts'
import type { StreamEventType } from './stream-events.ts'

/** The text of each marker, by the name of the function that a test calls for it. */
export const markerTexts = {
  row: (id: string) => `[${id}]`,
  errorRow: (area: string, status: string) => `[error ${area} ${status}]`,
  limitRow: (name: string) => `[limit ${name}]`,
  streamEvent: (type: string) => `[stream ${type}]`,
} as const

export function row(id: RowId | ChannelId): string {
  return markerTexts.row(id)
}

export function errorRow<A extends KnownErrorArea>(area: A, status: StatusIn<A>): string {
  return markerTexts.errorRow(area, String(status))
}

export function limitRow(name: LimitName): string {
  return markerTexts.limitRow(name)
}

export function streamEvent(type: StreamEventType): string {
  return markerTexts.streamEvent(type)
}
