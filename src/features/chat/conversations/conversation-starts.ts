import type { Kysely } from 'kysely'
import type { StoredSettings } from '#features/agents/settings.service.ts'
import { type Clock, timestamp } from '#platform/clock.ts'
import { type AppError, conflict } from '#platform/errors.ts'
import type { Ids } from '#platform/ids.ts'
import type { Outbox, Transact } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentTables } from '#storage/tables.ts'
import { type ChatEvents, originOf } from '../chat.events.ts'
import type { Conversation } from '../chat.schema.ts'
import type { Lock, TurnMark } from '../rows/conversation-lock.repository.ts'
import {
  type BegunBy,
  countShare,
  evictConversations,
  insertConversation,
  type Room,
  shareOf,
} from '../rows/conversations.repository.ts'
import type { ConversationLock } from './conversation-lock.ts'
import { removeFilesOf } from './unused-files.ts'

const heldOnChannels = 1000
/** Conversations of each author, and what the setting may make of it: `settings.schema.ts` has the same maximum. */
const keptPerAuthor = { usual: 50, max: 1000 }

interface Dependencies {
  lock: Pick<ConversationLock, 'first'>
  transact: Transact<ChatEvents>
  /** Max conversations of an agent, of all authors, outside of channels. */
  maxConversations: number
  settingsOf(agentId: string): Promise<StoredSettings>
  clock: Clock
  ids: Ids
}

interface Owner {
  agentId: string
  /** The settings of the agent. */
  settings: StoredSettings
}

interface Beginning extends Owner {
  id?: string | undefined
  title: string
  channel: string | undefined
  /** Identity of the caller. */
  author: string
  /** Time of the message. */
  at: string
  /** The mark of the message. */
  turn: TurnMark
}

/** Present where another conversation made room. */
interface Evicted {
  evictedConversationId?: string
}

/** New conversations, and those that make room for them. */
export function createConversationStarts(needs: Dependencies) {
  const { lock, transact, maxConversations, settingsOf, clock, ids } = needs

  /** Stores a conversation; if its author has no room left, evicts the author's own with the oldest activity. */
  async function store(
    transaction: Kysely<AgentTables>,
    outbox: Outbox<ChatEvents>,
    conversation: Conversation,
    { agentId, settings, ...begun }: Owner & BegunBy,
  ): Promise<Evicted> {
    const room = roomFor(conversation, settings, maxConversations)
    const evicted = await evictConversations(transaction, room, conversation.createdAt)
    await removeFilesOf(
      transaction,
      outbox,
      evicted.map(({ id }) => id),
    )
    const evictedAt = timestamp(clock)
    for (const { id, channel: evictedFrom } of evicted)
      await outbox.emit('conversation.evicted', {
        ...{ agent_id: agentId, conversation_id: id, evicted_at: evictedAt },
        ...originOf({ channel: evictedFrom ?? undefined }),
      })
    const [first] = evicted
    // One that takes the place of another of its author is no more than there were, however many these are.
    const { mostOfAll, ...own } = room
    const bounds = first === undefined ? room : own
    if (!(await insertConversation(transaction, conversation, { ...bounds, ...begun })))
      throw noRoom(mostOfAll, await countShare(transaction, room.share))
    return first === undefined ? {} : { evictedConversationId: first.id }
  }

  return {
    /** `fill` stores its messages within the same transaction. */
    async create(
      agent: AgentHandle,
      { title, messageCount = 0 }: { title: string; messageCount?: number },
      created_by: string,
      fill?: (transaction: Kysely<AgentTables>, conversationId: string) => Promise<void>,
    ): Promise<Conversation & Evicted> {
      const { agentId } = agent
      const settings = await settingsOf(agentId)
      const at = timestamp(clock)
      const id = ids.record()
      const last = messageCount > 0 ? { lastMessageAt: at } : {}
      const conversation = { id, title, messageCount, ...last, createdAt: at, created_by }
      const stored = await transact(agent, async (transaction, outbox) => {
        const evicted = await store(transaction, outbox, conversation, { agentId, settings })
        await fill?.(transaction, id)
        return evicted
      })
      return { ...conversation, ...stored }
    },

    /** Within the caller's transaction: a new conversation for a message that is stored later. */
    prepare: (
      transaction: Kysely<AgentTables>,
      outbox: Outbox<ChatEvents>,
      conversation: Omit<Conversation, 'messageCount'>,
      owner: Owner,
    ): Promise<Evicted> => store(transaction, outbox, { ...conversation, messageCount: 0 }, owner),

    /**
     * Within the caller's transaction: a new conversation for a message that is stored next. It is locked, and already
     * counts the message. `id` is one that no conversation has, or undefined for a fresh one.
     */
    async begin(
      transaction: Kysely<AgentTables>,
      outbox: Outbox<ChatEvents>,
      begun: Beginning,
    ): Promise<{ lock: Lock } & Evicted> {
      const { id = ids.record(), title, channel, author, at: messageAt, turn, ...owner } = begun
      const held = lock.first(turn)
      const times = { createdAt: messageAt, lastMessageAt: messageAt }
      const of = { ...(channel && { channel }), created_by: author }
      const conversation = { id, title, ...of, messageCount: 1, ...times }
      const stored = await store(transaction, outbox, conversation, { lock: held, ...owner })
      return { lock: { conversationId: id, token: held.token }, ...stored }
    },
  }
}

function roomFor(conversation: Conversation, settings: StoredSettings, mostOfAll: number): Room {
  const share = shareOf(conversation)
  if (conversation.channel !== undefined)
    return { share, most: heldOnChannels, mostOfAll: Number.MAX_SAFE_INTEGER }
  const wanted = settings.conversations_max ?? keptPerAuthor.usual
  return { share, most: Math.min(wanted, keptPerAuthor.max, mostOfAll), mostOfAll }
}

/** @param own the number of conversations that could make room, but for their locks */
function noRoom(mostOfAll: number, own: number): AppError {
  if (own > 0)
    return conflict(`All ${own} conversations are being processed. Try again when one has finished.`)
  return conflict(
    `This agent keeps ${mostOfAll} conversations of all authors, and none of yours is among them that could make room. Ask an admin to delete some, or the operator to raise CONVERSATIONS_MAX.`,
  )
}

export type ConversationStarts = ReturnType<typeof createConversationStarts>
