import { type Insertable, type Selectable, sql } from 'kysely'
import type { AgentTables, AgentDatabase as Database } from '#storage/tables.ts'
import type { Background, Requested } from './notice-text.ts'

export type Notice = Selectable<AgentTables['notices']>

/** Stores a notice unless it is stored already. Returns the stored one. */
export async function putNotice(
  database: Database,
  notice: Insertable<AgentTables['notices']>,
): Promise<Notice> {
  await database
    .insertInto('notices')
    .values(notice)
    .onConflict(conflict => conflict.column('id').doNothing())
    .execute()
  return await database
    .selectFrom('notices')
    .selectAll()
    .where('id', '=', notice.id)
    .executeTakeFirstOrThrow()
}

export function findNotice(database: Database, id: string): Promise<Notice | undefined> {
  return database.selectFrom('notices').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function changeNotice(
  database: Database,
  id: string,
  changes: Partial<Pick<Notice, 'sent_at' | 'error' | 'outcome'>>,
): Promise<void> {
  await database.updateTable('notices').set(changes).where('id', '=', id).execute()
}

/** Deletes notices that expired before a time. */
export async function removeNotices(database: Database, before: string): Promise<void> {
  await database.deleteFrom('notices').where('expires_at', '<', before).execute()
}

/** Returns the background of a request, as far as the agent's data still have it. */
export async function backgroundOf(
  database: Database,
  { workflow_id = '', turn_id = '', message_id = '' }: Requested,
): Promise<Omit<Background, 'agentName'>> {
  const workflow = await database
    .selectFrom('workflows')
    .select('name')
    .where('id', '=', workflow_id)
    .executeTakeFirst()
  const turn = await database
    .selectFrom('turns')
    .select('waiting')
    .where('id', '=', turn_id)
    .executeTakeFirst()
  const asked = await database
    .selectFrom('messages as answer')
    .innerJoin('messages as question', 'question.conversation_id', 'answer.conversation_id')
    .select(sql<string>`substr(question.content, 1, 2000)`.as('content'))
    .where('answer.id', '=', message_id)
    .where('question.role', '=', 'user')
    .whereRef('question.sequence', '<', 'answer.sequence')
    .orderBy('question.sequence', 'desc')
    .limit(1)
    .executeTakeFirst()
  const { read } = JSON.parse(turn?.waiting ?? '{}') as { read?: string }
  return { workflow: workflow?.name, read, question: asked?.content }
}
