import type { AgentDatabase } from '#storage/tables.ts'
import type { Conversation } from '../../chat.schema.ts'
import type { StoredMessage } from '../../rows/messages.repository.ts'
import { readBounded } from '../bounded-window.ts'
import { portableNames } from './conversation-file.schema.ts'

/** Max characters of messages in a batch. */
const portionCharacters = 500_000

/** Writes a conversation as JSON for an import, with a line for each message. */
export async function* exportJson(database: AgentDatabase, { id, title }: Conversation) {
  yield `{"version":1,"id":${JSON.stringify(id)},"title":${JSON.stringify(title)},"messages":[`
  let separator = '\n'
  for await (const message of messagesOf(database, id)) {
    yield separator + JSON.stringify(portable(message))
    separator = ',\n'
  }
  yield '\n]}\n'
}

/** Writes a conversation as Markdown. */
export async function* exportMarkdown(database: AgentDatabase, { id, title }: Conversation) {
  yield `# ${title.replace(/\s+/g, ' ')}\n`
  for await (const message of messagesOf(database, id)) {
    const { role, content, createdAt, toolCalls } = message
    // The author of an imported message can be any text.
    const author = authorOf(message)?.replace(/\s+/g, ' ') ?? 'unknown'
    const name = role === 'user' ? `User (${author})` : 'Assistant'
    yield `\n## ${name}, ${createdAt}\n`
    if (toolCalls?.length)
      yield `\n*Tools: ${toolCalls.map(call => call.name.replace(/[^\w-]/g, '_')).join(', ')}*\n`
    // Escaped, so that no message can look like the beginning of another.
    yield `\n${content.trim().replace(/^## (?=User|Assistant)/gm, '\\$&')}\n`
  }
}

async function* messagesOf(database: AgentDatabase, conversationId: string): AsyncGenerator<StoredMessage> {
  for (let after = 0; ; ) {
    const window = { conversationId, after, end: 'oldest', limit: 20 } as const
    const { messages } = await readBounded(database, window, { characters: portionCharacters })
    yield* messages
    const last = messages.at(-1)
    if (last === undefined) return
    after = last.sequence
  }
}

/** Returns the author that the file named, for an imported message. */
function authorOf({ metadata, created_by }: StoredMessage): string | undefined {
  return metadata?.imported === undefined ? created_by : metadata.imported.created_by
}

function portable(message: StoredMessage) {
  const { id, role, content, toolCalls, toolResults, createdAt, metadata = {} } = message
  const kept = portableNames.filter(name => metadata[name] !== undefined)
  const results = toolResults?.map(({ approval: _, toolVersion: _version, ...result }) => result) ?? null
  const author = authorOf(message)
  return {
    id,
    role,
    content,
    toolCalls,
    toolResults: results,
    ...(kept.length > 0 && { metadata: Object.fromEntries(kept.map(name => [name, metadata[name]])) }),
    createdAt,
    ...(author !== undefined && { created_by: author }),
  }
}
