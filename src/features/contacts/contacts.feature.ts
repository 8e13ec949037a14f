import type { AgentsFeature } from '#features/agents/agents.feature.ts'
import type { Feature } from '#features/feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { contactEvents } from './contacts.events.ts'
import { registerContactRoutes } from './contacts.routes.ts'
import { type ContactsService, createContactsService } from './contacts.service.ts'
import { createContactImport } from './import-contacts.ts'

export interface ContactsFeature extends Feature {
  contacts: ContactsService
}

export function createContacts(
  { transact, configuration, documentWorkers: workers, clock, ids }: Infrastructure,
  { settings }: Pick<AgentsFeature, 'settings'>,
): ContactsFeature {
  const countryOf = async (agentId: string) => (await settings.profileOf(agentId)).settings.phone_country
  const contacts = createContactsService({ transact, countryOf, clock, ids })
  const importContacts = createContactImport({ transact, countryOf, workers, clock, ids })
  const { maxUploadBytes } = configuration
  return {
    contacts,
    events: contactEvents,
    routes: app => registerContactRoutes(app, { contacts, importContacts, maxUploadBytes }),
  }
}
