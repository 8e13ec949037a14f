import type { JSONObject } from '@ai-sdk/provider'
import { randomIds } from '#platform/ids.ts'
import type { ToolCall } from '../language-model/language-model.ts'
import { UnreadableAnswer } from './call-failure.ts'
import { countOf, fieldsOf, isFields, textOf } from './chunk.ts'
import { createJsonProgress, type JsonProgress } from './json-progress.ts'
import { extraKey, metadataKey } from './request-body.ts'
import { isPlaceholder, readableInput } from './tool-input.ts'

/** The content of one entry of `delta.tool_calls`. */
interface Delta {
  index: number | undefined
  id: string | undefined
  name: string | undefined
  input: string
  extra: JSONObject | undefined
}

/** An incomplete call. */
interface Draft extends Delta {
  /** The progress of its input: parsing all of it with every delta would take quadratic time. */
  progress: JsonProgress
}

/** Max characters of all calls of one answer, so that they cannot fill the memory. */
const maxCharacters = 2_000_000

/** Max calls of one answer because every delta might be compared with each of them. */
const maxCalls = 64

/**
 * Collects the calls of an answer from their deltas, in the many forms of servers: see `continued`. `tools`
 * are the names of the offered tools.
 */
export function createToolCalls(tools: readonly string[] = []) {
  const drafts: Draft[] = []
  let characters = 0

  return {
    add(value: unknown): void {
      const delta = readDelta(value)
      characters += sizeOf(delta)
      if (characters > maxCharacters) throw new UnreadableAnswer('The tool calls have no end.')
      const last = drafts.at(-1)
      if (last !== undefined && continuesName(last, delta, tools)) {
        last.name = `${last.name}${delta.name}`
        append(last, delta)
      } else if (!isRepeated(drafts, delta)) append(continued(drafts, delta) ?? begun(drafts), delta)
    },

    /** Returns the calls in order. Throws if one has no name. */
    finish(): ToolCall[] {
      const isIndexed = drafts.every(({ index }) => index !== undefined)
      const ordered = isIndexed ? drafts.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0)) : drafts
      const used = new Set<string>()
      return ordered
        .filter(({ name, input }) => name !== undefined || input !== '')
        .map(draft => callOf(draft, tools, used))
    },
  }
}

/**
 * Returns the call that a delta belongs to, or undefined for a new one. OpenAI gives each call an index, and
 * sends its id and name once. Others repeat id and name, give all calls the index 0, omit the index or the
 * id, give every delta another id, or send the name after the id. So a delta begins a new call if nothing in
 * it is known, or if it contains a name and the call that it would continue is complete or has another name.
 */
function continued(drafts: readonly Draft[], delta: Delta): Draft | undefined {
  const draft = known(drafts, delta)
  if (draft?.name === undefined || delta.name === undefined) return draft
  const { progress } = draft
  if (isPlaceholder(draft.input) && delta.id === draft.id) return draft
  const isOtherCall = delta.id !== undefined && draft.id !== undefined && delta.id !== draft.id
  const begins = /^\s*[{[]/.test(delta.input)
  if (begins && (isOtherCall || progress.isCompleteObject())) return undefined
  const mayBeWhole = progress.isBlank() || progress.isCompleteObject()
  return isOtherCall && delta.input.trim() === '' && mayBeWhole ? undefined : draft
}

/** True for a name's later piece: together they begin a tool's name, which this one alone does not. */
function continuesName(last: Draft, { index, id, name }: Delta, tools: readonly string[]): boolean {
  if (last.name === undefined || name === undefined || !last.progress.isBlank()) return false
  if (index !== last.index || (id !== undefined && id !== last.id) || tools.includes(name)) return false
  const joined = last.name + name
  return tools.some(tool => tool.startsWith(joined))
}

/** True if a server repeats a complete call, or its arguments, as a whole. */
function isRepeated(drafts: readonly Draft[], delta: Delta): boolean {
  const { id, name, input } = delta
  if (isPlaceholder(input) || (id === undefined && name !== undefined)) return false
  const isSame = (draft: Draft) => draft.id === id && draft.name === name
  const draft = name === undefined ? known(drafts, delta) : drafts.find(isSame)
  return draft?.progress.isCompleteObject() === true && draft.input === input
}

/**
 * Returns the last draft that matches the delta by its name, and by its id, index or position. An unknown
 * index without name and id belongs to the newest incomplete call: some servers count on for arguments.
 */
function known(drafts: readonly Draft[], { index, id, name }: Delta): Draft | undefined {
  const mayBe = (draft: Draft) => draft.name === undefined || name === undefined || draft.name === name
  const identified = id === undefined ? undefined : drafts.filter(draft => draft.id === id && mayBe(draft))
  const incomplete = drafts.findLast(draft => mayBe(draft) && isIncomplete(draft))
  if (index !== undefined) {
    const isAt = (draft: Draft) => draft.index === index && mayBe(draft)
    const byId = identified?.findLast(isAt) ?? (name === undefined ? identified?.at(-1) : undefined)
    const byIndex = byId ?? drafts.findLast(isAt)
    return byIndex ?? (name === undefined && id === undefined ? incomplete : undefined)
  }
  if (id !== undefined) return identified?.at(-1)
  const last = incomplete ?? drafts.findLast(mayBe)
  return name === undefined || last?.name === undefined ? last : undefined
}

function isIncomplete({ input, progress }: Draft): boolean {
  return !progress.isCompleteObject() || isPlaceholder(input)
}

function begun(drafts: Draft[]): Draft {
  if (drafts.length === maxCalls) throw new UnreadableAnswer('The tool calls are too many.')
  const progress = createJsonProgress()
  const draft = { index: undefined, id: undefined, name: undefined, input: '', extra: undefined, progress }
  drafts.push(draft)
  return draft
}

function append(draft: Draft, { index, id, name, input, extra }: Delta): void {
  draft.index ??= index
  draft.id ??= id
  draft.name ??= name
  draft.extra ??= extra
  if (isPlaceholder(draft.input) && input.trim() !== '') {
    draft.input = ''
    draft.progress = createJsonProgress()
  }
  draft.input += input
  draft.progress.advance(input)
}

function sizeOf({ id = '', name = '', input, extra }: Delta): number {
  return id.length + name.length + input.length + (extra === undefined ? 0 : JSON.stringify(extra).length)
}

function readDelta(value: unknown): Delta {
  const { index, id, function: called, extra_content: extra } = fieldsOf(value)
  const { name, arguments: input } = fieldsOf(called)
  return {
    index: countOf(index),
    id: wordOf(id),
    name: wordOf(name),
    input: typeof input === 'object' && input !== null ? JSON.stringify(input) : (textOf(input) ?? ''),
    extra: isFields(extra) ? (extra as JSONObject) : undefined,
  }
}

function wordOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/** Returns the tool that a name means: models change the case of names, and their separators. */
function toolNamed(name: string, tools: readonly string[]): string {
  const exact = name.trim()
  if (tools.includes(exact)) return exact
  const meant = tools.filter(tool => plain(tool) === plain(exact))
  return (meant.length === 1 ? meant[0] : undefined) ?? exact
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]/g, '')
}

/** Returns the call with a unique id because its result refers to it. */
function callOf({ id, name, input, extra }: Draft, tools: readonly string[], used: Set<string>): ToolCall {
  if (name === undefined) throw new UnreadableAnswer('A tool call has no name.')
  const toolCallId = id === undefined || used.has(id) ? randomIds.toolCall() : id
  used.add(toolCallId)
  const call: ToolCall = {
    type: 'tool-call',
    toolCallId,
    toolName: toolNamed(name, tools),
    input: readableInput(input),
  }
  return extra === undefined ? call : { ...call, providerMetadata: { [metadataKey]: { [extraKey]: extra } } }
}
