import type { Outbox } from '#platform/jobs/jobs.ts'
import type { AgentDatabase } from '#storage/tables.ts'
import { hasFiles } from '../rows/chat-files.repository.ts'

export const removeUnusedJobName = 'chat-files.remove-unused'

/** Within the transaction that has deleted messages of these conversations: has their files removed. */
export async function removeFilesOf(
  transaction: AgentDatabase,
  outbox: Pick<Outbox, 'add'>,
  conversationIds: readonly string[],
): Promise<void> {
  if (await hasFiles(transaction, conversationIds))
    await outbox.add({ name: removeUnusedJobName, payload: {} })
}
