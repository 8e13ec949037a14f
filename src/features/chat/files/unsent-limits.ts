import { AppError } from '#platform/errors.ts'
import type { AgentDatabase } from '#storage/tables.ts'
import { unsentByAuthor } from '../rows/chat-files.repository.ts'

const mebibyte = 1024 * 1024
const maxFiles = 20
const maxMebibytes = { user: 100, withoutUser: 20, agent: 1024 }
const advice =
  'Send or delete some of them first: DELETE …/chat/files/{id}. Files that are not sent are removed after 24 hours.'

/**
 * Within the transaction that adds to the files that are not sent yet. Channels send theirs at once, and only the sum of the
 * agent bounds them. Throws PAYLOAD_TOO_LARGE.
 */
export async function requireRoom(
  transaction: AgentDatabase,
  author: string,
  added: { files?: number; bytes: number },
): Promise<void> {
  const sender = senderOf(author)
  const own = { files: added.files ?? 0, bytes: added.bytes }
  let all = added.bytes
  for (const each of await unsentByAuthor(transaction)) {
    all += Number(each.bytes)
    if (senderOf(each.created_by) !== sender) continue
    own.files += Number(each.files)
    own.bytes += Number(each.bytes)
  }
  const [max, whose] =
    sender === 'anonymous'
      ? [maxMebibytes.withoutUser, 'the files of all callers without a user']
      : [maxMebibytes.user, 'your files']
  if (sender !== 'channel' && own.files > maxFiles) throw tooMany(`${maxFiles} of ${whose}`)
  if (sender !== 'channel' && own.bytes > max * mebibyte) throw tooMany(`${max} MiB of ${whose}`)
  if (all > maxMebibytes.agent * mebibyte) throw tooMany('1 GiB of files of this agent')
}

/** Buyers have no user either: a payment is proven only after its files have arrived. */
function senderOf(author: string): string {
  const sender = author.replace(/^mcp:/, '')
  if (/^(person|key):/.test(sender)) return sender
  return sender.startsWith('channel:') ? 'channel' : 'anonymous'
}

function tooMany(what: string): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', `At most ${what} may wait to be sent. ${advice}`)
}
