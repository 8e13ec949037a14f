import type { StoredSettings } from '#features/agents/settings.service.ts'
import type { ChannelsService } from '#features/channels/channels.service.ts'
import type { ContactsService } from '#features/contacts/contacts.service.ts'
import { AppError, invalid } from '#platform/errors.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'

export type Notify = NonNullable<StoredSettings['notify']>
export type NoticeChannel = keyof Notify

interface Dependencies {
  contacts: Pick<ContactsService, 'find'>
  channels: Pick<ChannelsService, 'telegramChatOf' | 'whatsappOf'>
}

/** Returns the channel and the contact that a setting names. */
export function chosenIn(notify: Notify): { channel: NoticeChannel; contactId: string } {
  const [chosen] = Object.entries(notify) as [NoticeChannel, string][]
  return { channel: chosen?.[0] ?? 'email', contactId: chosen?.[1] ?? '' }
}

/** Finds the person whom an agent notifies. @throws VALIDATION_ERROR for a missing contact, or one without an address */
export function createReach({ contacts, channels }: Dependencies) {
  return async (agent: AgentHandle, channel: NoticeChannel, contactId: string) => {
    const field = `notify.${channel}`
    const contact = await contacts.find(agent.db, contactId).catch(error => {
      if (error instanceof AppError && error.code === 'NOT_FOUND')
        throw invalid(field, 'names no contact of this agent')
      throw error
    })
    const addresses = {
      email: async () => contact.email,
      telegram: () => channels.telegramChatOf(agent, contactId),
      whatsapp: async () =>
        (await channels.whatsappOf(agent, contactId)) ?? contact.messenger_number ?? contact.phone,
    }
    const address = await addresses[channel]()
    if (!address) throw invalid(field, `${contact.name} ${missing[channel]}`)
    return { contact, address }
  }
}

export type Reach = ReturnType<typeof createReach>

const missing: Record<NoticeChannel, string> = {
  email: 'has no e-mail address: give the contact one',
  telegram: 'has not written to the agent’s bot yet, which can’t write first: have them send it a message',
  whatsapp: 'has no number for WhatsApp: give the contact one',
}
