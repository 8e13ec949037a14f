import type { Outbox } from '#platform/jobs/jobs.ts'
import type { AgentDatabase } from '#storage/tables.ts'
import { hasFiles } from '../rows/chat-files.repository.ts'

export const removeUnusedJobName = 'chat-files.remove-unused'

/** Starts the removal of files of these conversations, in the transaction that has deleted their messages. */
export async function removeFilesOf(
  transaction: AgentDatabase,
  outbox: Pick<Outbox, 'add'>,
  conversationIds: readonly string[],
): Promise<void> {
  if (await hasFiles(transaction, conversationIds))
    await outbox.add({ name: removeUnusedJobName, payload: {} })
}
