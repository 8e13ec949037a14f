/**
 * How well and how fast an agent's chunks are found: nDCG@10 and recall@100 of a plain BM25, of the full-text index alone,
 * of the built-in vectors alone and of both together, on the collections of REAL_FIXTURES/ir and on the same queries with
 * typing errors; then the times of writing and searching 10,000 chunks, in embedded databases or on the server of DATABASE_URL. The constants of retrieval are chosen by it.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Chunk } from '#features/sources/chunking/chunk-document.ts'
import { withAgentDatabase } from '#features/sources/search/agent-database.ts'
import { fuse } from '#features/sources/search/fusion.ts'
import { indexDraft } from '#features/sources/search/index-draft.ts'
import { createIndexWriter } from '#features/sources/search/index-writer.ts'
import { rankings } from '#features/sources/search/rankings.ts'
import { createSearchIndex } from '#features/sources/search/search-index.ts'
import { randomIds } from '#platform/ids.ts'
import { createLog } from '#platform/log.ts'
import { createWorkerPool } from '#platform/workers/worker-pool.ts'
import type { SearchDatabase } from '#storage/search-engine.ts'
import { openAgentDatabases } from './support/database.ts'

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

const collections = ['cranfield', 'xquad-de', 'xquad-ar', 'xquad-zh']
const fixtures = process.env.REAL_FIXTURES
if (fixtures === undefined) throw new Error('Set REAL_FIXTURES to the folder with the collections (ir/).')
const databases = await openAgentDatabases()

try {
  for (const name of collections) await measureQuality(name, readCollection(join(fixtures, 'ir', name)))
  await measureSpeed(readCollection(join(fixtures, 'ir', 'cranfield')))
} finally {
  await databases.close()
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
    for (const [column, asked, ranker] of columns) {
      const { ndcg, recall } = await evaluate({ ...collection, queries: asked }, ranker)
      console.log(`  ${column.padEnd(22)} nDCG@10 ${ndcg.toFixed(4)}   recall@100 ${recall.toFixed(4)}`)
    }
  })
}

/** Each document is one chunk, with its title as the heading. */
async function prepare(path: string, documents: readonly Document[]): Promise<void> {
  await withAgentDatabase(path, { readOnly: false }, async db => {
    await makeSource(db)
    const chunks = documents.map(({ title, text }) => ({ ...chunkOf(text), section: title }))
    const writer = createIndexWriter({ db, ids: randomIds, attempt: 'bench' })
    await writer.start('source')
    await writer.add('source', chunks)
    await writer.finish('source')
  })
}

async function makeSource({ db }: SearchDatabase): Promise<void> {
  const time = '2026-01-01T00:00:00.000Z'
  const row = { id: 'source', type: 'file', name: 'collection', status: 'ready', progress: 1, config: '{}' }
  await db
    .insertInto('sources')
    .values({ ...row, error: null, chunks: null, file_path: null, created_at: time, updated_at: time })
    .execute()
}

function chunkOf(content: string) {
  return { content, page: null, section: null, start: 0, end: content.length }
}

function rankersOf(
  { db, engine }: SearchDatabase,
  documents: readonly Document[],
): Record<'text' | 'vectors' | 'fused', Ranker> {
  const ranksOf = (text: string) =>
    db.transaction().execute(transaction => rankings(transaction, engine, { text, limit: 100 }))
  const ids = (ranking: readonly { sequence: number }[]) =>
    ranking.map(({ sequence }) => documents[sequence - 1]?.id ?? '')
  return {
    text: async query => ids((await ranksOf(query)).text),
    vectors: async query => ids((await ranksOf(query)).vectors),
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

/** 10,000 chunks of 1,000 characters from sentences of the collection, asked with its queries as the service does it. */
async function measureSpeed({ documents, queries }: Collection): Promise<void> {
  const path = await databases.make('speed')
  await withAgentDatabase(path, { readOnly: false }, makeSource)
  const sentences = documents
    .flatMap(({ text }) => text.split(' . '))
    .filter(sentence => sentence.length > 20)
  const random = randomNumbers(7)
  const chunks = Array.from({ length: 10_000 }, () => {
    let content = ''
    while (content.length < 1_000) content += `${sentences[Math.floor(random() * sentences.length)]}. `
    return chunkOf(content.slice(0, 1_000))
  })

  const pool = createWorkerPool({ log: createLog('silent') })
  const index = createSearchIndex({ readers: pool, writers: pool })
  const source = { databasePath: path, sourceId: 'source', attempt: 'bench' }
  const replace = (some: readonly Chunk[]) =>
    withAgentDatabase(path, { readOnly: false }, async database => {
      const writer = createIndexWriter({ db: database, ids: randomIds, attempt: source.attempt })
      await writer.start('source')
      await writer.store('source', some)
      const model = { provider: 'builtin' as const, id: 'builtin' }
      const { signal } = new AbortController()
      await indexDraft({ source, db: database.db, index, model, signal, onProgress: async () => {} })
      await index.finish(source)
    })
  try {
    const megabyte = await elapsed(() => replace(chunks.slice(0, 1_000)))
    const all = await elapsed(() => replace(chunks))
    console.log(`\nwriting: 1 MB ${(megabyte / 1000).toFixed(2)} s, 10 MB ${(all / 1000).toFixed(2)} s`)

    const ask = async (asked: readonly Query[], options: { sourceId?: string }) => {
      const times: number[] = []
      for (const { text } of asked) {
        times.push(await elapsed(() => index.search(path, { text, limit: 10, ...options })))
      }
      times.sort((one, other) => one - other)
      const at = (share: number) => (times[Math.floor(times.length * share)] ?? 0).toFixed(1)
      return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`
    }
    await ask(queries.slice(0, 20), {})
    const short = queries.map(({ id, text }) => ({ id, text: text.split(' ').slice(0, 5).join(' ') }))
    console.log(`searching 10,000 chunks: ${await ask(queries, {})}`)
    console.log(`  first five words only: ${await ask(short, {})}`)
    console.log(`  within one source:     ${await ask(queries, { sourceId: 'source' })}`)
    console.log(
      `  misspelt:              ${await ask(
        queries.map(({ id, text }) => ({ id, text: misspell(text) })),
        {},
      )}`,
    )
  } finally {
    await pool.close()
  }
}

async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

/** A linear congruential generator: the same numbers in every run, 0 to 1. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    return state / 0x7fffffff
  }
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
