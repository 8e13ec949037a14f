import type { AgentHandle } from '#storage/agent-databases.ts'
import { deleteProgress, findProgress, saveProgress } from '../channels.repository.ts'

/** Sends one part of a long text; returns the messenger's id of the message. */
export type Part = () => Promise<string>

/** Sends the parts that an earlier call with this key has not sent; returns the id of the first part. */
export async function sendParts({ db }: AgentHandle, key: string, parts: readonly Part[]): Promise<string> {
  const isLong = parts.length > 1
  let progress = (isLong && (await findProgress(db, key))) || { key, sent: 0, message_id: '' }
  for (const send of parts.slice(progress.sent)) {
    const id = await send()
    progress = { key, sent: progress.sent + 1, message_id: progress.message_id || id }
    if (isLong) await saveProgress(db, progress)
  }
  if (isLong) await deleteProgress(db, key)
  return progress.message_id
}
