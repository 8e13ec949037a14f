import { type Kysely, type SqlBool, sql } from 'kysely'
import { listOf } from '#platform/http/lists/list-of.ts'
import { containsText, listRows, type Page } from '#platform/http/lists/list-query.ts'
import { prepareQuery, type ValueOf } from '#platform/prepared-query.ts'
import { chatTables, conversationShare } from '#storage/tables/chat.ts'
import type { AgentTables } from '#storage/tables.ts'
import { type Conversation, type ConversationListQuery, titleLength } from '../chat.schema.ts'
import { authorsIn, type Reach } from '../reach.ts'
import type { HeldLock } from './conversation-lock.repository.ts'

type Database = Kysely<AgentTables>

const columns = [
  'id',
  'title',
  'channel',
  'message_count',
  'last_message_at',
  'created_at',
  'created_by',
] as const

type ConversationRow = Pick<AgentTables['conversations'], (typeof columns)[number]>

const conversationList = listOf(chatTables.columns.conversations, {
  sortable: {
    id: 'id',
    lastMessageAt: 'last_message_at',
    createdAt: 'created_at',
    title: 'title',
    messageCount: 'message_count',
    created_by: 'created_by',
  },
  // Conversations without a message are equal in the first column: the newest of them comes first.
  by: ['lastMessageAt', 'createdAt'],
})

/** Lists conversations. Its `search` reads titles and messages, which can take seconds. */
export async function listConversations(
  database: Database,
  { channel, created_by, ...parameters }: ConversationListQuery,
  reach: Reach,
): Promise<Page<Conversation>> {
  const all = database.selectFrom(withShortTitles(database, reach).as('conversations')).selectAll()
  let wanted = created_by === undefined ? all : all.where('created_by', 'in', created_by)
  if (channel !== undefined) wanted = wanted.where('channel', '=', channel)
  else if (created_by === undefined) wanted = wanted.where('channel', 'is', null)
  const { search, ...others } = parameters
  if (search !== undefined && search !== '')
    wanted = wanted.where(({ exists, or }) => {
      const said = database
        .selectFrom('messages')
        .select('messages.id')
        .where(sql<SqlBool>`messages.conversation_id = conversations.id`)
        .where(containsText(sql.ref('messages.content'), search))
      return or([containsText(sql.ref('title'), search), exists(said)])
    })
  const { rows, meta } = await listRows(wanted, conversationList, others)
  return { rows: rows.map(toConversation), meta }
}

/** Shortens titles: an agent's SQL can write titles of many megabytes, which a list must not gather in memory. */
function withShortTitles(database: Database, reach: Reach) {
  return reachedConversations(database, reach)
    .select(['id', 'channel', 'message_count', 'last_message_at', 'created_at', 'created_by'])
    .select(({ fn, lit, ref }) => fn<string>('substr', [ref('title'), lit(1), lit(titleLength)]).as('title'))
}

/** Selects the conversations that a caller reaches. All access to conversations and their contents is decided here. */
export function reachedConversations(database: Database, reach: Reach) {
  const conversations = database.selectFrom('conversations')
  if (reach === 'all') return conversations
  return conversations.where(sql<string>`coalesce(created_by, 'anonymous')`, 'in', authorsIn(reach))
}

/** True if there is such a conversation within reach. */
export async function hasConversation(database: Database, id: string, reach: Reach): Promise<boolean> {
  const found = reachedConversations(database, reach).select('id').where('id', '=', id)
  return (await found.executeTakeFirst()) !== undefined
}

export async function findConversation(
  database: Database,
  id: string,
  reach: Reach,
): Promise<Conversation | undefined> {
  const found = withShortTitles(database, reach).where('id', '=', id)
  const row = await found.executeTakeFirst()
  return row && toConversation(row)
}

/** Changes the title; with `former`, only if that is the current title. */
export async function putTitle(
  database: Database,
  id: string,
  { title, former }: { title: string; former?: string },
): Promise<void> {
  await database
    .updateTable('conversations')
    .set({ title })
    .where('id', '=', id)
    .$if(former !== undefined, query => query.where('title', '=', former ?? ''))
    .execute()
}

const newColumns = [
  ...columns,
  ...(['lock_holder', 'lock_token', 'lock_expires_at', 'turn_id', 'turn_by', 'turn_since'] as const),
] as const
type NewColumns = (typeof newColumns)[number]

const share = sql<string>`(${sql.raw(conversationShare)})`

/** The number of conversations that count together with a new one. */
const sharedCount = (of: string) => sql<number>`(select count(*) from conversations where ${share} = ${of})`
/** The number of conversations beside those on channels. */
const keptCount = sql<number>`(select count(*) from conversations where ${share} > '')`

const unbounded = Number.MAX_SAFE_INTEGER

/** How many conversations there may be beside a new one. */
export interface Room {
  /** Whose conversations the new one counts among, as the share of the table. */
  share: string
  /** In this share. */
  most: number
  /** In the agent, beside those on channels. */
  mostOfAll: number
}

const insertBelow = prepareQuery((database: Database, value: ValueOf<NewColumns | keyof Room>) =>
  database
    .insertInto('conversations')
    .columns(newColumns)
    .expression(
      database
        .selectNoFrom(({ val, cast }) => [
          val(value('id')).as('id'),
          val(value('title')).as('title'),
          val(value<string | null>('channel')).as('channel'),
          cast<number>(val(value('message_count')), 'integer').as('message_count'),
          val(value<string | null>('last_message_at')).as('last_message_at'),
          val(value('created_at')).as('created_at'),
          val(value<string | null>('created_by')).as('created_by'),
          val(value<string | null>('lock_holder')).as('lock_holder'),
          cast<number>(val(value('lock_token')), 'integer').as('lock_token'),
          val(value<string | null>('lock_expires_at')).as('lock_expires_at'),
          val(value<string | null>('turn_id')).as('turn_id'),
          val(value<string | null>('turn_by')).as('turn_by'),
          val(value<string | null>('turn_since')).as('turn_since'),
        ])
        .where(sharedCount(value('share')), '<', value<number>('most'))
        .where(keptCount, '<', value<number>('mostOfAll')),
    )
    .returning('id'),
)

export interface BegunBy {
  lock?: HeldLock | undefined
}

/** Stores a conversation, unlocked unless a lock is given. Returns false, and stores nothing, if there is no room for it. */
export async function insertConversation(
  database: Database,
  conversation: Conversation,
  { lock, ...room }: BegunBy & Partial<Room> = {},
): Promise<boolean> {
  const { id, title, channel = null, messageCount, lastMessageAt = null, createdAt } = conversation
  const inserted = await insertBelow(database, {
    id,
    title,
    channel,
    message_count: messageCount,
    last_message_at: lastMessageAt,
    created_at: createdAt,
    lock_holder: lock?.holder ?? null,
    lock_token: lock?.token ?? 0,
    lock_expires_at: lock?.expiresAt ?? null,
    turn_id: lock?.turn?.id ?? null,
    turn_by: lock?.turn?.by ?? null,
    turn_since: lock?.turn === undefined ? null : createdAt,
    created_by: conversation.created_by ?? null,
    share: shareOf(conversation),
    most: unbounded,
    mostOfAll: unbounded,
    ...room,
  })
  return inserted.length > 0
}

const deleteSurplus = prepareQuery((database: Database, value: ValueOf<'now' | keyof Room>) =>
  database
    .deleteFrom('conversations')
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('conversations as unlocked')
        .select('unlocked.id')
        .where(share, '=', value<string>('share'))
        .where(({ eb, or }) =>
          or([eb('unlocked.lock_holder', 'is', null), eb('unlocked.lock_expires_at', '<=', value('now'))]),
        )
        // The message of a turn that has not begun is only in the turn's row.
        .where(
          sql<boolean>`not exists (select 1 from turns where conversation_id = unlocked.id and ended_at is null)`,
        )
        .orderBy(({ fn }) => fn.coalesce('unlocked.last_message_at', 'unlocked.created_at'))
        .limit(
          sql<number>`case when ${sharedCount(value('share'))} >= ${value('most')} then ${sharedCount(value('share'))} - ${value('most')} + 1 when ${keptCount} >= ${value('mostOfAll')} then 1 else 0 end`,
        ),
    )
    .returning(['id', 'channel']),
)

/**
 * Deletes the conversations of a share with the oldest activity, except locked ones and those with a turn that has not ended,
 * until a new one has room or no other can be deleted; a single one where the agent is full. Returns the deleted ones.
 */
export async function evictConversations(
  database: Database,
  room: Room,
  now: string,
): Promise<{ id: string; channel: string | null }[]> {
  return await deleteSurplus(database, { ...room, now })
}

export async function countShare(database: Database, of: string): Promise<number> {
  const { own } = await database.selectNoFrom(sharedCount(of).as('own')).executeTakeFirstOrThrow()
  return Number(own)
}

/** The share that a conversation counts in. */
export function shareOf({ channel, created_by = 'anonymous' }: Pick<Conversation, 'channel' | 'created_by'>) {
  return channel === undefined ? created_by.replace(/^mcp:/, '') : ''
}

export async function conversationIds(database: Database): Promise<string[]> {
  const rows = await database.selectFrom('conversations').select('id').execute()
  return rows.map(({ id }) => id)
}

export async function deleteConversation(database: Database, id: string): Promise<void> {
  await database.deleteFrom('conversations').where('id', '=', id).execute()
}

/** Updates the number of messages after deleting some before later ones. */
export async function countDown(database: Database, id: string, deleted: number): Promise<void> {
  await database
    .updateTable('conversations')
    .set(({ eb }) => ({ message_count: eb('message_count', '-', deleted) }))
    .where('id', '=', id)
    .execute()
}

/** Counts the messages again and sets the time of the last one. */
export async function refreshActivity(database: Database, id: string): Promise<void> {
  await database
    .updateTable('conversations')
    .set(({ selectFrom }) => ({
      message_count: selectFrom('messages')
        .whereRef('messages.conversation_id', '=', 'conversations.id')
        .select(({ fn }) => fn.countAll<number>().as('count')),
      last_message_at: selectFrom('messages')
        .whereRef('messages.conversation_id', '=', 'conversations.id')
        .select(({ fn }) => fn.max('messages.created_at').as('latest')),
    }))
    .where('id', '=', id)
    .execute()
}

function toConversation(row: ConversationRow): Conversation {
  const {
    id,
    title,
    channel,
    message_count: messageCount,
    last_message_at: lastMessageAt,
    created_at: createdAt,
    created_by,
  } = row
  return {
    id,
    title,
    ...(channel === null ? {} : { channel }),
    messageCount,
    ...(lastMessageAt === null ? {} : { lastMessageAt }),
    createdAt,
    ...(created_by === null ? {} : { created_by }),
  }
}
