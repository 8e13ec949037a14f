/** Tables of contents and indexes contain the words of every page, but no information on them. */
import type { SearchResult } from '../knowledge.schema.ts'

const minEntries = 4
/** The min share of entries in a passage's lines. */
const minShare = 0.5
/** The min relative score of a passage that an entry might point to. */
const nearlyAsGood = 0.5

const pageNumber = /(?:^|\D)(\d{1,4}|[ivxlc]{1,7})$/
const leader = /^(?:[.·․・_]\s{0,2}|[…‥]\s{0,2}){2,}$/
/** Matches entries such as `term, 12, 45–47`, with or without a comma before the first number. */
const indexEntry =
  /\p{L}[^,\d]*,\s?\d{1,3}(?:[–-]\d{1,3})?(?:f{1,2}\.?)?(?:,\s?\d{1,3}(?:[–-]\d{1,3})?(?:f{1,2}\.?)?){0,9}$/u
const numberedHeading = /^(?:\d{1,2}(?:\.\d{1,2}){0,4}\.?|chapter|kapitel|第)\s?.*\p{L}/iu
const title =
  /^\s*(?:(?:table of )?contents|index|inhalt(?:sverzeichnis)?|(?:stichwort|sach)(?:verzeichnis|register)|register|sommaire|table des matières|índice|indice|inhoud|目次|目录|目錄|索引|차례|목차)\s*$/imu

/** True for a part of a table of contents, or of an index, of a document with pages. */
export function isListing({
  content,
  metadata: { page },
}: Pick<SearchResult, 'content' | 'metadata'>): boolean {
  const lines = linesOf(content, '\n')
  if (isMostly(lines, lines.filter(hasLeader))) return true
  if (page === null || page === undefined) return false
  const cells = linesOf(content, /[\n\t]/)
  return (
    isMostly(
      cells,
      cells.filter(cell => indexEntry.test(cell)),
    ) || isInColumns(content, lines)
  )
}

/** True for headings with ascending page numbers, and a sign that these are not figures. */
function isInColumns(content: string, lines: readonly string[]): boolean {
  const entries = lines.filter(line => /\p{L}.*\s\d{1,4}$/u.test(line))
  const numbers = entries.map(line => Number(/\d+$/.exec(line)?.[0]))
  const rises = numbers.every((number, at) => at === 0 || number >= (numbers[at - 1] ?? 0))
  const isNamed =
    title.test(content) ||
    isMostly(
      entries,
      entries.filter(line => numberedHeading.test(line)),
    )
  return isMostly(lines, entries) && rises && isNamed
}

function hasLeader(line: string): boolean {
  const [, number = ''] = pageNumber.exec(line) ?? []
  return number !== '' && leader.test(line.slice(0, -number.length).trimEnd().slice(-5))
}

function isMostly(lines: readonly string[], entries: readonly string[]): boolean {
  return entries.length >= minEntries && entries.length >= lines.length * minShare
}

function linesOf(text: string, separator: string | RegExp): string[] {
  return text
    .split(separator)
    .map(line => line.trim())
    .filter(line => line !== '')
}

/** Moves listings behind passages of the same document that are nearly as relevant; scores stay in place. */
export function putListingsLast(results: readonly SearchResult[]): SearchResult[] {
  const listings = new Set(results.filter(isListing))
  if (listings.size === 0) return [...results]
  const places = results.map((result, at) => {
    if (!listings.has(result)) return { result, place: at }
    const last = results.findLastIndex(
      other =>
        other.source_id === result.source_id &&
        !listings.has(other) &&
        other.score >= result.score * nearlyAsGood,
    )
    return { result, place: Math.max(at, last + 0.5) }
  })
  return places
    .sort((one, other) => one.place - other.place)
    .map(({ result }, at) => ({ ...result, score: results[at]?.score ?? 0 }))
}
