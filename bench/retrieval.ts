/**
 * How well an agent's chunks are found: nDCG@10 and recall@100 of a plain BM25, of the full-text index alone,
 * of the built-in vectors alone and of both together, on the collections of REAL_FIXTURES/ir and on the same queries with
 * typing errors, in embedded databases or on the server of DATABASE_URL. The constants of retrieval are chosen by it.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { withAgentDatabase } from '#features/knowledge/indexing/agent-database.ts'
import { createIndexWriter } from '#features/knowledge/indexing/index-writer.ts'
import { fuse } from '#features/knowledge/search/fusion.ts'
import { rankings } from '#features/knowledge/search/rankings.ts'
import { randomIds } from '#platform/ids.ts'
import type { SearchDatabase } from '#storage/search/search-engine.ts'
import { addSource, chunkOf } from '#test/support/chunk-rows.ts'
import { openAgentDatabases } from './support/database.ts'
import { printTable, type Row } from './support/table.ts'

interface Document {
  id: string
  title: string
  text: string
}

interface Query {
  id: string
  text: string
}

interface Collection {
  documents: Document[]
  queries: Query[]
  /** By query: the documents that answer it, and those whose judgement is unclear, which count for nothing. */
  judgements: Map<string, { relevant: Set<string>; unclear: Set<string> }>
}

/** Ids of documents, best first. */
type Ranking = string[]
type Ranker = (query: string) => Ranking | Promise<Ranking>

/** As a search for ten of them asks for. */
const wantedResults = 20
const collections = ['cranfield', 'xquad-de', 'xquad-ar', 'xquad-zh']
const fixtures = process.env.REAL_FIXTURES
if (fixtures === undefined) throw new Error('Set REAL_FIXTURES to the folder with the collections (ir/).')
const databases = await openAgentDatabases()
const bars: Row[] = []

try {
  for (const name of collections) await measureQuality(name, readCollection(join(fixtures, 'ir', name)))
  printTable('retrieval: nDCG@10 of both rankings together', 'the plain BM25, or the full text alone', bars)
} finally {
  await databases.close()
}

function beside(what: string, figure: number, reference: number, least: number): Row {
  return {
    what,
    service: figure.toFixed(4),
    reference: reference.toFixed(4),
    figure: figure / reference,
    unit: '×',
    bar: { least: Math.round(least * 1000) / 1000 },
  }
}

async function measureQuality(name: string, collection: Collection): Promise<void> {
  const { documents, queries } = collection
  const path = await databases.make(name)
  await prepare(path, documents)
  await withAgentDatabase(path, { readOnly: true }, async db => {
    const indexed = rankersOf(db, documents)
    const plain = plainBm25(documents)
    const misspelt = queries.map(({ id, text }) => ({ id, text: misspell(text) }))
    const columns: [string, Query[], Ranker][] = [
      ['plain BM25', queries, plain],
      ['full text', queries, indexed.text],
      ['vectors', queries, indexed.vectors],
      ['fused', queries, indexed.fused],
      ['plain BM25, misspelt', misspelt, plain],
      ['full text, misspelt', misspelt, indexed.text],
      ['vectors, misspelt', misspelt, indexed.vectors],
      ['fused, misspelt', misspelt, indexed.fused],
    ]
    console.log(`\n${name}: ${documents.length} documents, ${queries.length} queries`)
    const gains = new Map<string, number>()
    for (const [column, asked, ranker] of columns) {
      const { ndcg, recall } = await evaluate({ ...collection, queries: asked }, ranker)
      gains.set(column, ndcg)
      console.log(`  ${column.padEnd(22)} nDCG@10 ${ndcg.toFixed(4)}   recall@100 ${recall.toFixed(4)}`)
    }
    const [plainGain, textGain, fusedGain] = ['plain BM25', 'full text', 'fused'].map(
      column => gains.get(column) ?? 0,
    ) as [number, number, number]
    bars.push(
      beside(`${name}, beside the plain BM25`, fusedGain, plainGain, name === 'cranfield' ? 1.05 : 0.99),
      beside('  beside the full text alone', fusedGain, textGain, 1 - 0.01 / textGain),
    )
  })
}

/** Each document is one chunk, with its title as the heading. */
async function prepare(path: string, documents: readonly Document[]): Promise<void> {
  await withAgentDatabase(path, { readOnly: false }, async db => {
    await addSource(db.db, 'source')
    const chunks = documents.map(({ title, text }) => ({ ...chunkOf(text), section: title }))
    const writer = createIndexWriter({ db, ids: randomIds, attempt: 'bench' })
    await writer.start('source')
    await writer.add('source', chunks)
    await writer.finish('source')
  })
}

function rankersOf(
  { db, engine }: SearchDatabase,
  documents: readonly Document[],
): Record<'text' | 'vectors' | 'fused', Ranker> {
  const ranksOf = (text: string, limit = wantedResults) =>
    db.transaction().execute(transaction => rankings(transaction, engine, { text, limit }))
  const ids = (ranking: readonly { sequence: number }[]) =>
    ranking.map(({ sequence }) => documents[sequence - 1]?.id ?? '')
  return {
    text: async query => ids((await ranksOf(query)).text),
    // As many as there are, since of fewer the text's own may be the only ones.
    vectors: async query =>
      ids((await ranksOf(query, documents.length)).vectors.flatMap(({ found }) => found)),
    fused: async query => ids(fuse(await ranksOf(query))),
  }
}

async function evaluate({ queries, judgements }: Collection, ranker: Ranker) {
  const gains: number[] = []
  const recalls: number[] = []
  for (const { id, text } of queries) {
    const judged = judgements.get(id)
    if (judged === undefined || judged.relevant.size === 0) continue
    const { relevant, unclear } = judged
    const ranking = (await ranker(text)).filter(document => !unclear.has(document))
    const gain = (rank: number) => 1 / Math.log2(rank + 2)
    const found = ranking.slice(0, 10).map((document, rank) => (relevant.has(document) ? gain(rank) : 0))
    const ideal = Array.from({ length: Math.min(10, relevant.size) }, (_, rank) => gain(rank))
    gains.push(sum(found) / sum(ideal))
    recalls.push(ranking.slice(0, 100).filter(document => relevant.has(document)).length / relevant.size)
  }
  return { ndcg: sum(gains) / gains.length, recall: sum(recalls) / recalls.length }
}

/** As textbooks have it: lower-cased words, Chinese as pairs of characters, k1 = 1.2, b = 0.75. */
function plainBm25(documents: readonly Document[]): Ranker {
  const postings = new Map<string, Map<number, number>>()
  const lengths = documents.map(({ title, text }, index) => {
    const words = plainWords(`${title} ${text}`)
    for (const word of words) {
      const posting = postings.get(word) ?? new Map<number, number>()
      postings.set(word, posting.set(index, (posting.get(index) ?? 0) + 1))
    }
    return words.length
  })
  const average = sum(lengths) / lengths.length
  return query => {
    const scores = new Map<number, number>()
    for (const word of new Set(plainWords(query))) {
      const posting = postings.get(word) ?? new Map<number, number>()
      const rarity = Math.log(1 + (documents.length - posting.size + 0.5) / (posting.size + 0.5))
      for (const [index, count] of posting) {
        const norm = 1.2 * (0.25 + (0.75 * (lengths[index] ?? 0)) / average)
        scores.set(index, (scores.get(index) ?? 0) + (rarity * count * 2.2) / (count + norm))
      }
    }
    const ordered = [...scores].sort(([, one], [, other]) => other - one)
    return ordered.map(([index]) => documents[index]?.id ?? '')
  }
}

function plainWords(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return words.flatMap(word => {
    const characters = [...word]
    if (!/\p{Script=Han}/u.test(word) || characters.length === 1) return [word]
    return characters.slice(1).map((character, index) => `${characters[index]}${character}`)
  })
}

/** Leaves out, doubles or swaps a letter inside every second word of five letters or more. */
function misspell(text: string): string {
  let long = 0
  return text.replace(/\p{L}{5,}/gu, word => {
    if (/\p{Script=Han}/u.test(word) || long++ % 2 === 1) return word
    const letters = [...word]
    const at = 1 + (word.length % (letters.length - 3))
    const [before, letter, next, after] = [
      letters.slice(0, at),
      letters[at],
      letters[at + 1],
      letters.slice(at + 2),
    ]
    const kinds = [[next], [letter, letter, next], [next, letter]]
    return [...before, ...(kinds[long % 3] ?? []), ...after].join('')
  })
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function readCollection(path: string): Collection {
  const lines = (name: string) => readFileSync(join(path, name), 'utf8').trim().split('\n')
  const judgements: Collection['judgements'] = new Map()
  for (const line of lines('qrels.tsv').slice(1)) {
    const [query = '', document = '', score] = line.split('\t')
    const judged = judgements.get(query) ?? { relevant: new Set(), unclear: new Set() }
    judged[score === '0' ? 'unclear' : 'relevant'].add(document)
    judgements.set(query, judged)
  }
  return {
    documents: lines('corpus.jsonl').map(line => JSON.parse(line) as Document),
    queries: lines('queries.jsonl').map(line => JSON.parse(line) as Query),
    judgements,
  }
}
