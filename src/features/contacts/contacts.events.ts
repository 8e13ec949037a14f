interface ContactEvent {
  agentId: string
  contactId: string
}

/** The events of this feature: ids only, since what is known of a person is the agent's. */
export interface ContactEvents {
  'contact.created': ContactEvent
  'contact.updated': ContactEvent
}

export const contactEventNames = ['contact.created', 'contact.updated'] as const
