/**
 * How passages of the agent's documents appear in a prompt: a line `<passages>`, one JSON object per line, a line
 * `</passages>`. JSON contains no raw line breaks, and the tags are escaped in it, so no document can end the block
 * early and pass off its own text as instructions.
 */
import { Type } from 'typebox'
import { orNull } from '#platform/own-schemas.ts'
import { matches } from '#platform/schema-check.ts'

const passageSchema = Type.Object({
  /** Name of the source that the text comes from. */
  source: Type.String(),
  /** Counted from 1; absent where the format has none. */
  page: Type.Optional(Type.Integer()),
  /** Heading above the text. */
  section: Type.Optional(Type.String()),
  /** Address of the page, if the source is a website. */
  url: Type.Optional(Type.String()),
  /** How well it matches the question, 0 to 1; absent without a search. */
  score: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  text: Type.String(),
})

export type Passage = Type.Static<typeof passageSchema>

/** The fields of a place within a source. */
export const placeFields = {
  source_name: Type.String(),
  page: orNull(Type.Integer()),
  section: orNull(Type.String()),
  start: Type.Integer({ description: 'Offset in the extracted text, in UTF-16 code units.' }),
  end: Type.Integer(),
  url: Type.Optional(Type.String({ description: 'URL of the page if the source is a website.' })),
  file_id: Type.Optional(
    Type.String({
      description: 'The file of the conversation, if it is none of a source; equals `source_id`.',
    }),
  ),
}

/** Where a passage stands, so that an answer can cite it. */
export const citedPassageSchema = Type.Object(
  { id: Type.String(), source_id: Type.String(), ...placeFields },
  { title: 'CitedPassage' },
)
export type CitedPassage = Type.Static<typeof citedPassageSchema>

/** A passage that a search has found. */
export interface SearchedPassage extends Pick<CitedPassage, 'id' | 'source_id'> {
  content: string
  /** How well it matches, 0 to 1. */
  score: number
  metadata: Omit<CitedPassage, 'id' | 'source_id'>
}

const opening = '<passages>'
const closing = '</passages>'

/** The block with these passages, in the given order; empty if there are none. */
export function writePassages(passages: readonly Passage[]): string {
  if (passages.length === 0) return ''
  const lines = passages.map(({ source, page, section, url, score, text }) =>
    JSON.stringify({ source, page, section, url, score, text }).replace(
      /<(?=\s*\/?\s*passages)/gi,
      '\\u003c',
    ),
  )
  return [opening, ...lines, closing].join('\n')
}

/** The passages of every block in the text, in order. Invalid lines are skipped. */
export function readPassages(text: string): Passage[] {
  return splitBlocks(text).inside.flatMap(readLine)
}

/** The text without its passage blocks, and without the line that announces a block with a colon. */
export function withoutPassages(text: string): string {
  return splitBlocks(text).outside.join('\n').trim()
}

/** One pass over the lines, however many tags a text holds; a block that is never closed is plain text. */
function splitBlocks(text: string): { inside: string[]; outside: string[] } {
  const blocks: string[][] = []
  const outside: string[] = []
  let block: string[] | undefined
  for (const line of text.split('\n')) {
    if (block === undefined && line === opening) block = []
    else if (block !== undefined && line === closing) {
      if (outside.length > 1 && outside.at(-1)?.endsWith(':')) outside.pop()
      blocks.push(block)
      block = undefined
    } else (block ?? outside).push(line)
  }
  const unclosed = block === undefined ? [] : [opening, ...block]
  return { inside: blocks.flat(), outside: outside.concat(unclosed) }
}

function readLine(line: string): Passage[] {
  const value = parse(line)
  return matches(passageSchema, value) ? [value] : []
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
