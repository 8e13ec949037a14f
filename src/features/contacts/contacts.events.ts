import { Type } from 'typebox'
import { eventOf, type PayloadsOf } from '#platform/jobs/event-payloads.ts'

const contact = { contact_id: Type.String() }

/** The events of this feature: ids only, because facts about people belong to the agent. */
export const contactEvents = {
  'contact.created': eventOf('A contact was created.', contact),
  'contact.updated': eventOf('A contact was changed.', contact),
}
export type ContactEvents = PayloadsOf<typeof contactEvents>
