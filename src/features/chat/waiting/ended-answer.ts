import type { Kysely } from 'kysely'
import type { AgentTables } from '#storage/tables.ts'
import type { ChatMessage } from '../chat.schema.ts'
import { settleApprovals } from '../rows/approvals.repository.ts'
import { findMessage, putMessage } from '../rows/messages.repository.ts'
import { type TurnRow, type Waiting, waitingOf } from '../rows/turns.repository.ts'
import type { WaitEnd } from './wait-sentences.ts'

/** Settles the answer in the transaction that ends a turn which has waited. */
export async function endAnswer(
  transaction: Kysely<AgentTables>,
  row: Pick<TurnRow, 'id' | 'waiting'>,
  { how, error, at }: { how: WaitEnd; error: string; at: string },
): Promise<ChatMessage | undefined> {
  const said = await findMessage(transaction, row.id)
  await settleApprovals(transaction, row.id, at, said?.metadata?.waiting ? 'denied' : 'done')
  const answer = said && endedMessage(said, waitingOf(row), error, how)
  if (answer) await putMessage(transaction, answer)
  return answer
}

/** Returns the ended message. Its call might have a result meanwhile. */
function endedMessage(
  message: ChatMessage,
  { approval_id: toolCallId, tool: name }: Waiting,
  error: string,
  how: WaitEnd,
): ChatMessage {
  const others = message.toolResults?.filter(result => result.toolCallId !== toolCallId) ?? []
  const isOpen = message.metadata?.waiting === true
  const toolResults = isOpen ? [...others, { toolCallId, name, error }] : message.toolResults
  const { waiting: _, ...metadata } = message.metadata ?? {}
  // A turn that has continued has its own error with the reason of its end.
  const ended = how === 'stopped' ? { stopped: true } : { error: metadata.error ?? error }
  return { ...message, toolResults, metadata: { ...metadata, ...ended } }
}
