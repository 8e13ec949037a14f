import type { Transaction } from 'kysely'
import type { SettingsService } from '#features/agents/settings.service.ts'
import type { ContactEvents } from '#features/contacts/contacts.events.ts'
import type { ContactsService } from '#features/contacts/contacts.service.ts'
import type { ChangeContext, NewJob } from '#platform/jobs/jobs.ts'
import type { AgentDatabases } from '#storage/agent-databases.ts'
import type { AgentTables } from '#storage/tables.ts'
import { contactAt, countUpdates, forgetUpdates, insertUpdate, putThread } from './channels.repository.ts'
import type { Messenger } from './channels.schema.ts'
import type { IncomingMessage } from './incoming/incoming-message.ts'

export const answerJobName = 'channel.answer'
/** Milliseconds for which more messages are waited for, to answer them together. */
export const collectingMs = 2_000
/** Messages of one person that are read. */
const maxPerMinute = 20
const minuteMs = 60_000
/** Messengers repeat what they have delivered for days. */
const rememberedMs = 30 * 24 * 60 * minuteMs

interface Dependencies extends ChangeContext<ContactEvents> {
  agentDatabases: AgentDatabases
  settings: Pick<SettingsService, 'profileOf'>
  contacts: Pick<ContactsService, 'resolve' | 'add'>
}

/** At most one of a thread waits or runs. */
export function answerJob(threadId: string, runAt: number): NewJob & { key: string } {
  return { name: answerJobName, payload: threadId, key: `channel:${threadId}`, runAt }
}

/** Stores what people write, so that it can be acknowledged, and has it answered. */
export function createIncomingService(needs: Dependencies) {
  const { agentDatabases, transact, settings, contacts, clock, ids } = needs
  const ago = (duration: number) => new Date(clock.now() - duration).toISOString()

  /** The first one of a minute that is too many is answered, too: with a notice. */
  async function readOrNot(transaction: Transaction<AgentTables>, threadId: string, text: string) {
    const before = await countUpdates(transaction, threadId, ago(minuteMs))
    return before < maxPerMinute ? text : before === maxPerMinute ? '' : null
  }

  return {
    /** Strangers are ignored, unless they become contacts. */
    async receive(agentId: string, channel: Messenger, messages: readonly IncomingMessage[]): Promise<void> {
      const takesStrangers = (await settings.profileOf(agentId)).settings.channel_senders === 'everyone'
      const texts = messages.filter(({ text }) => text.trim() !== '')
      using agent = await agentDatabases.acquire(agentId)
      await transact(agent, async (transaction, outbox) => {
        for (const { id, address, name, identity, position, text } of texts) {
          const stranger = { name: name.trim().slice(0, 300) || address, ...identity }
          const contact_id =
            (await contactAt(transaction, channel, address)) ??
            (await contacts.resolve(transaction, identity))?.contact.id ??
            (takesStrangers && (await contacts.add(transaction, outbox, agentId, stranger)).id)
          if (!contact_id) continue
          const thread = { id: ids.record(), channel, address, contact_id, last_message_at: ago(0) }
          const thread_id = await putThread(transaction, thread)
          await forgetUpdates(transaction, thread_id, ago(rememberedMs))
          const read = await readOrNot(transaction, thread_id, text)
          const update = { id, thread_id, position, text: read, received_at: ago(0) }
          if ((await insertUpdate(transaction, update)) && read !== null)
            await outbox.add(answerJob(thread_id, clock.now() + collectingMs))
        }
      })
    },
  }
}

export type IncomingService = ReturnType<typeof createIncomingService>
