/** The sentences of the built-in retriever: it quotes and names its sources, and never says more than they do. */
import type { Passage } from '../language-model/passages.ts'
import { isPiece } from '../text-analysis/text-analysis.ts'
import { bestPassages, contentWordsOf, type FittingPassage } from './best-passages.ts'
import type { DocumentList, Table, WebPage } from './tool-results.ts'

const about = 'I am the built-in retriever, not a language model: I find passages and quote them, no more.'

export const nothingFits = `Nothing in this agent's documents fits that question. ${about}`
/** The answer if nothing was searched: a match might still exist. */
export const nothingGiven = `Nothing that I was given fits that question, and there is no tool here to search this agent's documents with. ${about}`
export const noQuestion = `${about} Ask about something that stands in this agent's documents.`

/**
 * Minimums: the score of a quoted passage, and the share of the question's words in its quote that makes it
 * an answer. Pieces are pairs of characters; texts with other words share fewer of them. Chosen with
 * `bench/answers.ts`, see docs/decisions/2026-11-23-when-nothing-fits.md.
 */
const minimums = { words: { score: 0.36, coverage: 0.45 }, pieces: { score: 0.28, coverage: 0.3 } }
const shownRows = 20

export function answerFromPassages(question: string, passages: readonly Passage[]): string {
  const words = contentWordsOf(question)
  if (words.length === 0) return noQuestion
  const minimum = words.some(isPiece) ? minimums.pieces : minimums.words
  // A question that names a document gets its closest passages.
  const isNamed = (source: string) => question.toLowerCase().includes(source.toLowerCase())
  const [best, ...others] = bestPassages(question, passages).filter(
    ({ passage: { score = 1, source } }) => score >= minimum.score || isNamed(source),
  )
  if (best === undefined) return nothingFits
  if (best.coverage < minimum.coverage)
    return `This may not answer the question, but it is the closest passage:\n\n${cited(best)}`
  return [best, ...others.filter(({ coverage }) => coverage >= minimum.coverage)].map(cited).join('\n\n')
}

export function answerToGreeting(greeting: string): string {
  return `${greeting.charAt(0).toUpperCase()}${greeting.slice(1)}! ${noQuestion}`
}

/** Lists the names of the documents and their states. */
export function answerFromDocuments({ total, documents }: DocumentList): string {
  if (total === 0) return 'This agent has no documents yet.'
  const count = `This agent has ${total === 1 ? 'one document' : `${total} documents`}`
  const note = documents.length < total ? `${count}; the first ${documents.length}:` : `${count}:`
  return [note, '', ...documents.map(({ name, status }) => `- “${name}” (${status})`)].join('\n')
}

/** Returns the answer to a question without passages, if no more can be searched. */
export function answerFromNothing(question: string): string {
  return contentWordsOf(question).length === 0 ? noQuestion : nothingGiven
}

/** Returns the page's answer to the question, or its beginning if the question is only its address. */
export function answerFromPage(question: string, page: WebPage): string {
  const name = page.title === page.url ? page.url : `“${page.title}” (${page.url})`
  const text = plainText(page.markdown)
  if (text === '') return `The page ${name} holds no text.`
  if (contentWordsOf(question).length === 0) return `${name} begins: “${beginning(text)}”`
  const passages = paragraphs(text).map(paragraph => ({ source: page.url, text: paragraph }))
  const best = bestPassages(question, passages)
  if (best.length === 0)
    return `Nothing on the page ${name} fits that question. It begins: “${beginning(text)}”`
  return best.map(({ quote }) => `From ${name}: “${quote}”`).join('\n\n')
}

/** Returns a Markdown table of the first twenty rows. */
export function answerFromTable({ columns, rows }: Table): string {
  if (rows.length === 0) return 'The query found no rows.'
  const line = (cells: readonly unknown[]) => `| ${cells.map(cell).join(' | ')} |`
  const shown = rows.slice(0, shownRows)
  const count = `The query found ${rows.length === 1 ? 'one row' : `${rows.length} rows`}`
  const note = shown.length < rows.length ? `${count}; the first ${shownRows}:` : `${count}:`
  return [note, '', line(columns), line(columns.map(() => '---')), ...shown.map(line)].join('\n')
}

export function failed(what: string, reason: string): string {
  return `${what} failed: ${reason}`
}

function cited({ passage: { source, page, url, section }, quote }: FittingPassage): string {
  const place = [`“${source}”`, page && `page ${page}`, url, section && `section “${section}”`].filter(
    Boolean,
  )
  return `From ${place.join(', ')}: “${quote}”`
}

/** Splits a text into paragraphs; joins short ones to the next because a heading belongs to its text. */
function paragraphs(text: string): string[] {
  const joined: string[] = []
  for (const paragraph of text.split(/\n\s*\n/)) {
    const last = joined.at(-1)
    if (last !== undefined && last.length < 80) joined[joined.length - 1] = `${last}\n${paragraph}`
    else joined.push(paragraph)
  }
  return joined
}

/** Removes Markdown that would clutter a quote: link targets, images, heading and list markers. */
function plainText(markdown: string): string {
  return markdown
    .replace(/!\[[^\]\n]{0,500}\]\([^)\n]{0,2000}\)/g, '')
    .replace(/\[([^\]\n]{1,500})\]\([^)\n]{0,2000}\)/g, '$1')
    .replace(/^[#>*\-+ \t]+/gm, '')
    .trim()
}

function beginning(text: string): string {
  const line = text.replace(/\s+/g, ' ')
  return line.length <= 400 ? line : `${line.slice(0, 400).replace(/\s\S*$/, '')}…`
}

function cell(value: unknown): string {
  const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '')
  return text.replace(/\s+/g, ' ').replaceAll('|', '\\|').slice(0, 200)
}
