import type { Kysely } from 'kysely'
import type { AgentTables } from '#storage/tables.ts'
import type { StoredMessage } from './messages.repository.ts'
import { readWindow } from './messages.repository.ts'

/** Messages read at a time: few enough that reading them never holds up others. */
const slice = 20
/** Messages of a conversation that are looked at for a prompt at most. */
const mostMessages = 400

/**
 * What was said in the conversation before a question, oldest first: no more than fills a prompt of so many characters,
 * since the rest would be left out anyway.
 */
export async function readHistory(
  database: Kysely<AgentTables>,
  { conversationId, sequence }: Pick<StoredMessage, 'conversationId' | 'sequence'>,
  characters: number,
): Promise<StoredMessage[]> {
  const history: StoredMessage[] = []
  let read = 0
  let before = sequence
  while (read < characters && history.length < mostMessages) {
    const older = await readWindow(database, { conversationId, before, end: 'newest', limit: slice })
    history.unshift(...older)
    read += older.reduce((sum, message) => sum + message.content.length, 0)
    const [oldest] = older
    if (oldest === undefined || older.length < slice) break
    before = oldest.sequence
  }
  return history
}
