import { Readable } from 'node:stream'
import type { Kysely } from 'kysely'
import { type Clock, timestamp } from '#platform/clock.ts'
import { AppError, conflict, invalid, required } from '#platform/errors.ts'
import type { ChangeContext, JobHandler, Outbox } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { Attachment } from '../chat.schema.ts'
import type { ConversationLock } from '../conversations/conversation-lock.ts'
import { removeUnusedJobName } from '../conversations/unused-files.ts'
import type { Asker, Reach } from '../reach.ts'
import {
  changeFile,
  type FileRow,
  findFile,
  findSendable,
  findUnused,
  markSent,
} from '../rows/chat-files.repository.ts'
import type { ChatFile } from './chat-files.schema.ts'
import { passagesName } from './conversation-documents.ts'
import { headBytes, kindOf } from './file-kind.ts'
import { withoutMetadata } from './image.ts'
import { requireRoom } from './unsent-limits.ts'

type Database = Kysely<AgentTables>

const hourMs = 60 * 60_000
/** Max age of an unsent file. It is removed an hour later, unless its message waits for a turn: no other can use it meanwhile. */
const unsentMs = 24 * hourMs
/** Max size of an image, in bytes. */
const maxImageBytes = 5 * 1024 * 1024
const maxNameLength = 300

/** Marks a file as one of a deleted message, so that the job removes it if its process dies first. */
const noMessage = ''
const jobKey = (id: string) => `chat-file:${id}`

export interface NewFile {
  /** The sender's name for the file. */
  name: string
  content: Readable | Uint8Array
  /** Identity of the sender, who alone can send the file with a message. */
  author: string
  /** The conversation in which the file will be sent. */
  conversationId?: string
}

/** A message that has files. */
interface Sent {
  id?: string
  attachments?: { id: string }[]
  sentAt?: string
}

interface Dependencies extends ChangeContext {
  lock: ConversationLock
  maxUploadBytes: number
}

/** Manages files of chat messages. */
export function createChatFiles(needs: Dependencies) {
  const { clock, maxUploadBytes } = needs
  const remove = createRemove(needs)
  return {
    receive: createReceive(needs),

    /** @throws AppError `NOT_FOUND` if there is no file that the caller may see. */
    async find(agent: AgentHandle, id: string, caller: { sight: Reach; author: string }): Promise<ChatFile> {
      return toPublic(required(await findFile(agent.db, id, caller), 'File'))
    },

    /** Checks a file without storing it. @throws AppError as `receive` */
    async examine(given: Buffer<ArrayBuffer>, name: string) {
      const { kind, mimeType, parts } = await examine(given, name, maxUploadBytes)
      return { kind, mimeType, content: kind === 'image' ? await collect(parts) : given }
    },

    takeBack: createTakeBack(needs),

    /** Removes unsent files. Must not throw: the job removes the rest. */
    async discard(agent: AgentHandle, fileIds: readonly string[], author: string): Promise<void> {
      if (fileIds.length === 0) return
      const unsent = await findSendable(agent.db, fileIds, { author, since: '' }).catch(() => [])
      for (const { id } of unsent) await remove(agent, id).catch(() => {})
    },

    /** Returns the files for a message, in order. @throws AppError `NOT_FOUND` if the sender may not send one of them. */
    async forMessage(
      database: Database,
      { attachments = [], id: messageId, sentAt = timestamp(clock) }: Sent,
      { author }: Pick<Asker, 'author'>,
    ): Promise<Attachment[]> {
      if (attachments.length === 0) return []
      const wanted = attachments.map(({ id }) => id)
      const since = timeBefore({ now: () => Date.parse(sentAt) }, unsentMs)
      const found = await findSendable(database, wanted, { author, since, messageId })
      return wanted.map(id =>
        toAttachment(
          required(
            found.find(each => each.id === id),
            'File',
          ),
        ),
      )
    },

    /** Runs in the caller's transaction, which stores the message. */
    async attach(
      transaction: Database,
      outbox: Pick<Outbox, 'cancel'>,
      files: readonly Attachment[],
      message: { conversationId: string; messageId: string },
    ): Promise<void> {
      if (files.length === 0) return
      const fileIds = files.map(({ id }) => id)
      if ((await markSent(transaction, fileIds, message)) !== files.length)
        throw conflict('One of these files was sent with another message meanwhile. Upload it again.')
      for (const id of fileIds) await outbox.cancel(jobKey(id))
    },
  }
}

/**
 * Receives a file that is to be sent with a message.
 * @throws AppError `PAYLOAD_TOO_LARGE`, `UNSUPPORTED_MEDIA_TYPE`, `VALIDATION_ERROR`, with what to do.
 */
function createReceive(needs: Dependencies) {
  const { transact, clock, ids, maxUploadBytes } = needs
  const remove = createRemove(needs)
  return async (agent: AgentHandle, { content, author, ...given }: NewFile): Promise<ChatFile> => {
    const name = storableName(given.name)
    const { kind, mimeType, parts } = await examine(content, name, maxUploadBytes)
    const id = ids.record()
    const row = {
      id,
      name,
      kind,
      mime_type: mimeType,
      size: 0,
      status: 'receiving',
      progress: 0,
      error: null,
      conversation_id: given.conversationId ?? null,
      message_id: null,
      created_at: timestamp(clock),
      created_by: author,
    }
    await transact(agent, async (transaction, outbox) => {
      await requireRoom(transaction, author, { files: 1, bytes: 1 })
      await transaction.insertInto('chat_files').values(row).execute()
      const runAt = clock.now() + unsentMs + hourMs
      await outbox.add({ name: removeUnusedJobName, key: jobKey(id), payload: {}, runAt })
    })
    try {
      const counted = { size: 0 }
      await agent.files.write(id, Readable.from(count(parts, counted), { objectMode: false }))
      const stored = { size: counted.size, status: 'ready' }
      await transact(agent, async transaction => {
        await requireRoom(transaction, author, { bytes: stored.size })
        await changeFile(transaction, id, stored)
      })
      return toPublic({ ...row, ...stored })
    } catch (error) {
      // If this fails, the job does it.
      await remove(agent, id).catch(() => {})
      throw error
    }
  }
}

function createRemove({ transact }: Pick<Dependencies, 'transact'>) {
  return async (agent: AgentHandle, id: string): Promise<void> => {
    for (const name of [id, passagesName(id)]) await agent.files.remove(name)
    await transact(agent, transaction => transaction.deleteFrom('chat_files').where('id', '=', id).execute())
  }
}

/** Removes a file that the caller may see. Throws NOT_FOUND, and as the lock of its conversation does. */
function createTakeBack({ transact, lock }: Pick<Dependencies, 'transact' | 'lock'>) {
  const remove = createRemove({ transact })
  return async (agent: AgentHandle, id: string, caller: { sight: Reach; author: string }): Promise<void> => {
    await transact(agent, async (transaction, outbox) => {
      const { message_id, conversation_id } = required(await findFile(transaction, id, caller), 'File')
      if (message_id !== null && conversation_id !== null)
        await lock.requireUnlocked(transaction, conversation_id)
      await changeFile(transaction, id, { message_id: noMessage })
      await outbox.add({ name: removeUnusedJobName, payload: {} })
    })
    // Models can read the file until this.
    await remove(agent, id)
  }
}

/** The job that removes files whose message is deleted, and files that were never sent. */
export function createRemoveUnusedJob(
  needs: Pick<Dependencies, 'clock' | 'transact'>,
): JobHandler<AgentHandle> {
  const remove = createRemove(needs)
  return {
    lane: 'documents',
    // Attempts within about a day, as for files of sources.
    maxAttempts: 10,
    makesRoom: true,
    async run({ agent }) {
      const receivedBefore = timeBefore(needs.clock, unsentMs + hourMs - 1)
      for (const id of await findUnused(agent.db, receivedBefore)) await remove(agent, id)
    },
  }
}

export type ChatFiles = ReturnType<typeof createChatFiles>

/** Returns the kind of a file, and the content to store. */
async function examine(content: Readable | Uint8Array, name: string, maxBytes: number) {
  const whole = content instanceof Uint8Array ? Readable.from([content]) : content
  const { head, all } = await readHead(limited(whole, maxBytes, 'This file'))
  if (head.length === 0) throw invalid('file', 'is empty: choose a file with content')
  const { kind, mimeType } = await kindOf(head, name)
  if (kind !== 'image') return { kind, mimeType, parts: all }
  const bytes = await collect(limited(all, maxImageBytes, 'This image'))
  return { kind, mimeType, parts: [withoutMetadata(bytes, mimeType)] }
}

function timeBefore(clock: Clock, ms: number): string {
  return timestamp({ now: () => clock.now() - ms })
}

/** Removes control characters and lone surrogates, which a database need not accept. */
function storableName(name: string): string {
  const storable = name
    .replace(/\p{Cc}/gu, '')
    .toWellFormed()
    .trim()
  return Array.from(storable).slice(0, maxNameLength).join('') || 'file'
}

async function* limited(content: AsyncIterable<Uint8Array>, maxBytes: number, what: string) {
  let size = 0
  for await (const part of content) {
    size += part.length
    if (size > maxBytes)
      throw new AppError(
        'PAYLOAD_TOO_LARGE',
        `${what} is larger than the ${maxBytes} bytes that are accepted. Make it smaller and send it again.`,
      )
    yield part
  }
}

/** Returns the first bytes, and an iterable of all. */
async function readHead(content: AsyncGenerator<Uint8Array>) {
  const begun: Uint8Array[] = []
  for (let size = 0; size < headBytes; ) {
    const { done, value } = await content.next()
    if (done) break
    begun.push(value)
    size += value.length
  }
  async function* all() {
    yield* begun
    yield* content
  }
  const length = begun.reduce((sum, part) => sum + part.length, 0)
  return { head: Buffer.concat(begun, Math.min(length, headBytes)), all: all() }
}

async function collect(
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<Buffer<ArrayBuffer>> {
  return Buffer.concat(await Array.fromAsync(content))
}

async function* count(content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, counted: { size: number }) {
  for await (const part of content) {
    counted.size += part.length
    yield part
  }
}

function toAttachment({ id, name, mime_type, size, kind }: FileRow): Attachment {
  return { id, name, mime_type, size: Number(size), kind: kind as Attachment['kind'] }
}

function toPublic(row: FileRow): ChatFile {
  const { status, progress, error } = row
  return {
    ...toAttachment(row),
    status,
    ...(status === 'processing' && { progress }),
    ...(error !== null && { error }),
  }
}
