import { Type } from 'typebox'
import { eventOf, type PayloadsOf } from '#platform/jobs/event-payloads.ts'

export const browserEvents = {
  'browser.takeover_requested': eventOf('A person is asked to take over a browser session.', {
    session_id: Type.String(),
    takeover_id: Type.String(),
    reason: Type.String(),
    requested_by: Type.String(),
    expires_at: Type.String({ format: 'date-time' }),
    takeover_url: Type.String({ description: 'Lets its reader drive the browser; absent in triggers.' }),
  }),
}
export type BrowserEvents = PayloadsOf<typeof browserEvents>
