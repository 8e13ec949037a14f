import type { JSONObject } from '@ai-sdk/provider'
import { randomIds } from '#platform/ids.ts'
import type { ToolCall } from '../language-model.ts'
import { UnreadableAnswer } from './call-failure.ts'
import { countOf, fieldsOf, isFields, textOf } from './chunk.ts'
import { extraKey, metadataKey } from './request-body.ts'

/** A call in the making. */
interface Draft {
  index: number | undefined
  id: string | undefined
  name: string | undefined
  input: string
  extra: JSONObject | undefined
}

/** Characters that the arguments of one answer may have together, so that they can't fill the memory. */
const mostCharacters = 2_000_000

/** Gathers the calls of an answer from their deltas, as the many servers send them: see `continued`. */
export function createToolCalls() {
  const drafts: Draft[] = []
  let characters = 0

  return {
    add(value: unknown): void {
      const delta = readDelta(value)
      characters += delta.input.length
      if (characters > mostCharacters)
        throw new UnreadableAnswer('The arguments of the tool calls have no end.')
      const draft = continued(drafts, delta)
      if (draft === undefined) drafts.push(delta)
      else append(draft, delta)
    },

    /** The calls in order. Throws where one has no name. */
    finish(): ToolCall[] {
      const isIndexed = drafts.every(({ index }) => index !== undefined)
      const ordered = isIndexed ? drafts.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0)) : drafts
      const used = new Set<string>()
      return ordered
        .filter(({ name, input }) => name !== undefined || input !== '')
        .map(draft => callOf(draft, used))
    },
  }
}

/**
 * The call that a delta belongs to, or undefined for a new one. OpenAI gives each call an index, and its id and name
 * once. Others repeat id and name, give all calls the index 0, leave the index or the id out, give every delta another
 * id, or send the name after the id. So a delta begins a call if nothing it says is known, or if it brings a name and
 * the call that it would continue is complete or has another name.
 */
function continued(drafts: readonly Draft[], delta: Draft): Draft | undefined {
  const candidates = drafts.filter(
    ({ name }) => name === undefined || delta.name === undefined || name === delta.name,
  )
  const draft = known(candidates, delta)
  if (draft?.name === undefined || delta.name === undefined) return draft
  const isOtherCall = delta.id !== undefined && draft.id !== undefined && delta.id !== draft.id
  const begins = /^\s*[{[]/.test(delta.input)
  if (begins && (isOtherCall || isComplete(draft.input))) return undefined
  return isOtherCall && delta.input.trim() === '' && isComplete(draft.input) ? undefined : draft
}

function known(drafts: readonly Draft[], { index, id, name }: Draft): Draft | undefined {
  if (index !== undefined) {
    const indexed = drafts.filter(draft => draft.index === index)
    return indexed.findLast(draft => id !== undefined && draft.id === id) ?? indexed.at(-1)
  }
  if (id !== undefined) return drafts.findLast(draft => draft.id === id)
  const last = drafts.at(-1)
  return name === undefined || last?.name === undefined ? last : undefined
}

function isComplete(input: string): boolean {
  try {
    return isFields(JSON.parse(input))
  } catch {
    return false
  }
}

function append(draft: Draft, { index, id, name, input, extra }: Draft): void {
  draft.index ??= index
  draft.id ??= id
  draft.name ??= name
  draft.extra ??= extra
  draft.input += input
}

/** One entry of `delta.tool_calls`. */
function readDelta(value: unknown): Draft {
  const { index, id, function: called, extra_content: extra } = fieldsOf(value)
  const { name, arguments: input } = fieldsOf(called)
  return {
    index: countOf(index),
    id: wordOf(id),
    name: wordOf(name),
    input: isFields(input) ? JSON.stringify(input) : (textOf(input) ?? ''),
    extra: isFields(extra) ? (extra as JSONObject) : undefined,
  }
}

function wordOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/** Each call has an id of its own, since its result is told by it. */
function callOf({ id, name, input, extra }: Draft, used: Set<string>): ToolCall {
  if (name === undefined) throw new UnreadableAnswer('A tool call has no name.')
  const toolCallId = id === undefined || used.has(id) ? randomIds.toolCall() : id
  used.add(toolCallId)
  const call: ToolCall = { type: 'tool-call', toolCallId, toolName: name, input }
  return extra === undefined ? call : { ...call, providerMetadata: { [metadataKey]: { [extraKey]: extra } } }
}
