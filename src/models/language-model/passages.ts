/**
 * The form of passages in a prompt: a line `<passages>`, one JSON object per line, a line `</passages>`. JSON
 * contains no raw line breaks, and the tags are escaped in it, so no document can end the block early and
 * disguise its own text as instructions.
 */
import { Type } from 'typebox'
import { orNull } from '#platform/own-schemas.ts'
import { matches } from '#platform/schema-check.ts'

const passageSchema = Type.Object({
  /** The name of the text's source. */
  source: Type.String(),
  /** The page, counted from 1; absent where the format has none. */
  page: Type.Optional(Type.Integer()),
  /** The heading above the text. */
  section: Type.Optional(Type.String()),
  /** The address of the page, if the source is a website. */
  url: Type.Optional(Type.String()),
  /** The score for the question, 0 to 1; absent without a search. */
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

/** The place of a passage, so that an answer can cite it. */
export const citedPassageSchema = Type.Object(
  { id: Type.String(), source_id: Type.String(), ...placeFields },
  { title: 'CitedPassage' },
)
export type CitedPassage = Type.Static<typeof citedPassageSchema>

/** A passage that a search has found. */
export interface SearchedPassage extends Pick<CitedPassage, 'id' | 'source_id'> {
  content: string
  /** The score, 0 to 1. */
  score: number
  metadata: Omit<CitedPassage, 'id' | 'source_id'>
}

const opening = '<passages>'
const closing = '</passages>'

/** Returns the block with these passages, in the given order; empty without passages. */
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

/** Returns the passages of every block in the text, in order. Invalid lines are skipped. */
export function readPassages(text: string): Passage[] {
  return splitBlocks(text).inside.flatMap(readLine)
}

/** Returns the text without its passage blocks, and without the line that announces a block with a colon. */
export function withoutPassages(text: string): string {
  return splitBlocks(text).outside.join('\n').trim()
}

/** Splits the lines in one loop, for any number of tags; a block without an end is plain text. */
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
