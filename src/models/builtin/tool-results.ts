/** Reads the results of the built-in tools from the prompt, which might have shortened them. */

import { type Static, Type } from 'typebox'
import { parseJson } from '#platform/exact-json.ts'
import { matches } from '#platform/schema-check.ts'
import type { ToolOutput } from '../language-model/language-model.ts'
import type { Passage } from '../language-model/passages.ts'

const searchSchema = Type.Object({
  results: Type.Array(
    Type.Object({
      content: Type.String(),
      score: Type.Optional(Type.Number()),
      metadata: Type.Object({
        source_name: Type.Optional(Type.Union([Type.String(), Type.Null()])),
        page: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
        section: Type.Optional(Type.Union([Type.String(), Type.Null()])),
        url: Type.Optional(Type.String()),
      }),
    }),
  ),
})
const documentsSchema = Type.Object({
  total: Type.Integer(),
  documents: Type.Array(Type.Object({ name: Type.String(), status: Type.String() })),
})
const pageSchema = Type.Object({
  url: Type.String(),
  title: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  markdown: Type.String(),
})
const rowsSchema = Type.Object({ columns: Type.Array(Type.String()), rows: Type.Array(Type.Unknown()) })

export type DocumentList = Static<typeof documentsSchema>

export interface WebPage {
  url: string
  title: string
  markdown: string
}

export interface Table {
  columns: string[]
  rows: unknown[][]
}

/** Returns a failed call's message, or undefined after success. */
export function failureOf(output: ToolOutput): string | undefined {
  switch (output.type) {
    case 'error-text':
      return output.value
    case 'error-json':
      return JSON.stringify(output.value)
    case 'execution-denied':
      return output.reason ?? 'The call was not allowed.'
    default:
      return undefined
  }
}

export function foundPassages(output: ToolOutput): Passage[] {
  const value = jsonOf(output)
  if (!matches(searchSchema, value)) return []
  return value.results.map(({ content, score, metadata: { source_name, page, section, url } }) => ({
    source: source_name ?? 'unnamed source',
    text: content,
    ...(page && { page }),
    ...(section && { section }),
    ...(url !== undefined && { url }),
    ...(score !== undefined && { score }),
  }))
}

export function documentList(output: ToolOutput): DocumentList | undefined {
  const value = jsonOf(output)
  return matches(documentsSchema, value) ? value : undefined
}

export function webPage(output: ToolOutput): WebPage | undefined {
  const value = jsonOf(output)
  if (!matches(pageSchema, value)) return undefined
  return { url: value.url, title: value.title || value.url, markdown: value.markdown }
}

export function tableOf(output: ToolOutput): Table | undefined {
  const value = jsonOf(output)
  if (!matches(rowsSchema, value)) return undefined
  const { columns } = value
  return {
    columns,
    rows: value.rows.map(row => (Array.isArray(row) ? row : columns.map(column => field(row, column)))),
  }
}

function jsonOf(output: ToolOutput): unknown {
  if (output.type === 'json') return output.value
  if (output.type === 'text') return parsed(output.value)
  if (output.type !== 'content') return undefined
  return parsed(output.value.map(part => (part.type === 'text' ? part.text : '')).join(''))
}

/**
 * Parses JSON, or the readable part of shortened JSON. JSON on one line contains no line break: the first one
 * marks where it was shortened, and everything after it is ignored. A list then lacks its last entry, an
 * object the end of its last text. The entries of a list can end with an object of their own.
 */
function parsed(text: string): unknown {
  const head = text.split('\n', 1)[0] ?? ''
  const list = head.slice(0, head.lastIndexOf('},{'))
  const object = `${head.replace(/\\(u[\da-f]{0,3})?$/i, '')}"}`
  return [text, `${list}}]}`, `${list}}}]}`, object, `${head}"}`]
    .map(parse)
    .find(value => value !== undefined)
}

function parse(json: string): unknown {
  try {
    return parseJson(json)
  } catch {
    return undefined
  }
}

function field(row: unknown, column: string): unknown {
  return typeof row === 'object' && row !== null ? Reflect.get(row, column) : undefined
}
