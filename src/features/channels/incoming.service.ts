import type { Transaction } from 'kysely'
import type { SettingsService } from '#features/agents/settings.service.ts'
import type { ChatFeature } from '#features/chat/chat.feature.ts'
import type { ContactEvents } from '#features/contacts/contacts.events.ts'
import type { ContactsService } from '#features/contacts/contacts.service.ts'
import { timestamp } from '#platform/clock.ts'
import { AppError } from '#platform/errors.ts'
import type { ChangeContext, NewJob, Outbox } from '#platform/jobs/jobs.ts'
import type { Log } from '#platform/logging/log.ts'
import type { AgentDatabases } from '#storage/agent-databases.ts'
import type { AgentTables } from '#storage/tables.ts'
import {
  changeUpdates,
  countUpdates,
  forgetUpdates,
  insertUpdate,
  personAt,
  putThread,
  readUpdate,
  textsOf,
} from './channels.repository.ts'
import type { Messenger } from './channels.schema.ts'
import type { IncomingMessage } from './incoming/incoming-message.ts'

export const answerJobName = 'channel.answer'
/** Handles a `Press`. */
export const pressJobName = 'channel.press'

/** The press of a button below a message of an agent. */
export interface Press extends NonNullable<IncomingMessage['press']> {
  channel: Messenger
  address: string
  /** The contact who pressed it; null for strangers. */
  contactId: string | null
}

/** Time in which more messages are collected, to answer them together (ms). */
export const collectingMs = 2_000
/** Max messages of one person that are read in a minute. */
const maxPerMinute = 20
const minuteMs = 60_000
/** Retention of updates (ms); messengers repeat deliveries for days. */
const rememberedMs = 30 * 24 * 60 * minuteMs

interface Dependencies extends ChangeContext<ContactEvents>, Pick<ChatFeature, 'editMessage'> {
  agentDatabases: AgentDatabases
  settings: Pick<SettingsService, 'profileOf'>
  contacts: Pick<ContactsService, 'resolve' | 'add'>
  log: Log
}

/** Returns the job of a thread; at most one of them waits or runs. */
export function answerJob(threadId: string, runAt: number): NewJob & { key: string } {
  return { name: answerJobName, payload: threadId, key: `channel:${threadId}`, runAt }
}

function pressJob(press: Press): NewJob {
  const { channel, address, data } = press
  return { name: pressJobName, payload: press, key: `press:${channel}:${address}:${data}` }
}

/** Stores messages of people, which can then be acknowledged, and queues their answers. */
export function createIncomingService(dependencies: Dependencies) {
  const { agentDatabases, transact, settings, contacts, clock, ids, log } = dependencies
  const ago = (duration: number) => new Date(clock.now() - duration).toISOString()

  /** Returns null over the limit of a minute; the first message over it is answered with a notice. */
  async function readOrNot(transaction: Transaction<AgentTables>, threadId: string, text: string) {
    const before = await countUpdates(transaction, threadId, ago(minuteMs))
    return before < maxPerMinute ? text : before === maxPerMinute ? '' : null
  }

  async function store(
    { agentId, channel, takesStrangers, message }: Received,
    transaction: Within,
    outbox: Changes,
  ) {
    const { id, address, userId, name, identity, text, press } = message
    const { position = Math.floor(clock.now() / 1000), file } = message
    const { known, contactId } = await senderOf(contacts, transaction, channel, message)
    if (press) return void (await outbox.add(pressJob({ ...press, channel, address, contactId })))
    const stranger = { name: name.trim().slice(0, 300) || address, ...identity }
    const contact_id =
      contactId ?? (takesStrangers && (await contacts.add(transaction, outbox, agentId, stranger)).id)
    if (!contact_id) return log.info({ agentId, channel }, 'a message of a stranger was not read')
    const place = { channel, address: known?.address ?? address, ...(userId && { user_id: userId }) }
    const thread_id = await putThread(transaction, {
      id: ids.record(),
      ...place,
      contact_id,
      last_message_at: ago(0),
    })
    await forgetUpdates(transaction, thread_id, ago(rememberedMs))
    const read = await readOrNot(transaction, thread_id, text)
    const fileJson = file ? JSON.stringify(file) : null
    const update = { id, thread_id, position, text: read, received_at: ago(0), file: fileJson }
    if ((await insertUpdate(transaction, update)) && read !== null)
      await outbox.add(answerJob(thread_id, clock.now() + collectingMs))
  }

  /** Changes the stored message; the answer uses the new text only if it has not begun. */
  async function edit({ agentId, channel, message }: Received, transaction: Within) {
    const { id, address, position = 0, text } = message
    const thread_id = (await personAt(transaction, channel, [address]))?.id
    const edited = thread_id && (await readUpdate(transaction, thread_id, position))
    if (!edited) return log.info({ agentId, channel }, 'an edit of a message that was not read')
    const isNew = await insertUpdate(transaction, {
      id,
      thread_id,
      position,
      text: null,
      received_at: ago(0),
    })
    if (!isNew) return
    await changeUpdates(transaction, [edited], edited.text === null ? { answered: text } : { text })
    if (edited.message_id !== null) await applyEdits(transaction, edited.message_id, dependencies)
  }

  return {
    /** Strangers are ignored unless they become contacts. A message that fails blocks no others. */
    async receive(agentId: string, channel: Messenger, messages: readonly IncomingMessage[]): Promise<void> {
      const takesStrangers = (await settings.profileOf(agentId)).settings.channel_senders === 'everyone'
      using agent = await agentDatabases.acquire(agentId)
      const failures: unknown[] = []
      for (const message of messages) {
        const received = { agentId, channel, takesStrangers, message }
        await transact(agent, (transaction, outbox) =>
          message.isEdit ? edit(received, transaction) : store(received, transaction, outbox),
        ).catch(error => {
          if (!(error instanceof AppError && error.isPermanent)) failures.push(error)
          else log.warn({ err: error, agentId, channel }, 'a message could not be stored')
        })
      }
      // The messenger delivers all of them again; stored ones count once.
      if (failures.length > 0) throw failures[0]
    },
  }
}

/** Returns the thread of a known contact, or of a stranger. */
async function senderOf(
  contacts: Pick<ContactsService, 'resolve'>,
  transaction: Within,
  channel: Messenger,
  { address, userId = address, identity }: IncomingMessage,
) {
  const known = await personAt(transaction, channel, [address, userId])
  const contactId = known?.contact_id ?? (await contacts.resolve(transaction, identity))?.contact.id ?? null
  return { known, contactId }
}

type Within = Transaction<AgentTables>
type Changes = Outbox<ContactEvents>

interface Received {
  agentId: string
  channel: Messenger
  takesStrangers: boolean
  message: IncomingMessage
}

/** Joins several messages into one. */
export function contentOf(texts: readonly string[]): string {
  return texts.filter(text => text.trim() !== '').join('\n')
}

/** Rewrites a stored message from its texts, if they have changed. */
export async function applyEdits(
  transaction: Within,
  messageId: string,
  { editMessage, clock }: Pick<Dependencies, 'editMessage' | 'clock'>,
): Promise<void> {
  const texts = await textsOf(transaction, messageId)
  const content = contentOf(texts)
  await editMessage(transaction, messageId, content, timestamp(clock))
}

export type IncomingService = ReturnType<typeof createIncomingService>
