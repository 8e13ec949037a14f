/** The part that runs in a thread of the worker pool; the other side is `import-conversation.ts`. */
import { AppError, invalid } from '#platform/errors.ts'
import { parseJson } from '#platform/exact-json.ts'
import { requireStorableJson } from '#platform/http/requests/storable-text.ts'
import { randomIds } from '#platform/ids.ts'
import { isDeeperThan, maxLevels } from '#platform/json-depth.ts'
import { hasMoreValuesThan } from '#platform/json-values.ts'
import { problemOf } from '#platform/schema-check.ts'
import { type ConversationFile, conversationFileSchema } from './conversation-file.schema.ts'

const maxValues = 500_000

/** A message's columns, with JSON as text, because its numbers might not pass between threads. */
export type ImportedRow = ReturnType<typeof rowOf>

/** Throws MALFORMED_JSON or VALIDATION_ERROR. */
export function readConversation(bytes: Uint8Array): { title: string; rows: ImportedRow[] } {
  const file = parse(bytes)
  return { title: file.title, rows: file.messages.map(rowOf) }
}

function parse(bytes: Uint8Array): ConversationFile {
  if (hasMoreValuesThan(bytes, maxValues))
    throw invalid('body', `must not hold more than ${maxValues} values`)
  let text: string
  let file: unknown
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    file = JSON.parse(text)
  } catch (cause) {
    throw new AppError('MALFORMED_JSON', 'The body is not valid JSON. Send what an export gave.', { cause })
  }
  if (isDeeperThan(maxLevels, text))
    throw invalid('body', `must not be nested more than ${maxLevels} levels deep`)
  requireStorableJson(text, file)
  const problem = problemOf(conversationFileSchema, file)
  if (problem !== undefined) throw invalid(problem.field || 'body', problem.issue)
  return parseJson(text)
}

function rowOf(message: ConversationFile['messages'][number], at: number) {
  const { role, content, toolCalls, toolResults, metadata, createdAt: created_at, created_by } = message
  if (Number.isNaN(Date.parse(created_at))) throw invalid(`messages.${at}.createdAt`, 'is no time')
  const ids = new Map(toolCalls?.map(({ id }) => [id, randomIds.toolCall()]))
  const idOf = (id: string) => {
    const made = ids.get(id)
    if (made === undefined) throw invalid(`messages.${at}.toolResults`, `has no call ${id} in toolCalls`)
    return made
  }
  const calls = toolCalls?.map(call => ({ ...call, id: idOf(call.id) })) ?? null
  const results = toolResults?.map(result => ({ ...result, toolCallId: idOf(result.toolCallId) })) ?? null
  return {
    role,
    content,
    created_at,
    sent: null,
    tool_calls: calls && JSON.stringify(calls),
    tool_results: results && JSON.stringify(results),
    metadata: JSON.stringify({ ...metadata, tainted: true, imported: { created_by } }),
  }
}
