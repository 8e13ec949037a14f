/**
 * A search over 100,000 chunks, in the threads of the service but without HTTP: how long it takes, what the nearest
 * vectors cost beside sqlite-vec's exact scan of the same ones, how many of its ten nearest they hold, and what the
 * process keeps in memory afterwards. On the server of DATABASE_URL the clock is read, since most of the work is not this
 * process's own.
 */
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { load } from 'sqlite-vec'
import { withAgentDatabase } from '#features/knowledge/indexing/agent-database.ts'
import { builtinSpace } from '#features/knowledge/indexing/builtin-space.ts'
import { createIndexWriter } from '#features/knowledge/indexing/index-writer.ts'
import { createSearchIndex } from '#features/knowledge/search/search-index.ts'
import { embedQuery } from '#models/embeddings/builtin-embedding.ts'
import { queryTerms } from '#models/text-analysis/text-analysis.ts'
import { randomIds } from '#platform/ids.ts'
import { createLog } from '#platform/logging/log.ts'
import { createWorkerPool } from '#platform/workers/worker-pool.ts'
import { catalogue as onPostgres } from '#storage/postgres/transfer/catalogue.ts'
import { similarityTo } from '#storage/search/exact-similarity.ts'
import type { NearestQuery, SearchDatabase, VectorSpace } from '#storage/search/search-engine.ts'
import { vectorTableName } from '#storage/search/vector-space.ts'
import { catalogue as onSqlite } from '#storage/sqlite/transfer/catalogue.ts'
import { addSource, chunkOf } from '#test/support/chunk-rows.ts'
import { openAgentDatabases } from './support/database.ts'
import { median, percentile, randomNumbers } from './support/statistics.ts'
import { printTable, type Row, rounded } from './support/table.ts'
import { createWriter } from './support/text.ts'

const chunks = Number(process.env.BENCH_CHUNKS ?? 100_000)
const chunksAtOnce = 1000
const searches = 100
/** After which threads without work have ended. */
const idleMs = 12_000
const vectorQueries = 30
const provider: VectorSpace = { id: 'benchmark/dense', dimensions: 384, form: 'floats' }

const noise = randomNumbers(17)
const onServer = process.env.DATABASE_URL !== undefined
const { readVectors } = onServer ? onPostgres : onSqlite

const databases = await openAgentDatabases()
const pool = createWorkerPool({ log: createLog('silent') })
const searchIndex = createSearchIndex(pool)
try {
  await warmUp(await databases.make('empty'))
  const path = await databases.make('large')
  await withAgentDatabase(path, { readOnly: false }, fill)
  printTable(`search in ${chunks} chunks`, 'none', await measureSearch(path))
  printTable('nearest vectors', 'sqlite-vec, which compares all of them', await measureVectors(path))
} finally {
  await pool.close()
  await databases.close()
}

async function fill(database: SearchDatabase): Promise<void> {
  const { db, engine } = database
  await addSource(db, 'source')
  const text = createWriter(3)
  const index = createIndexWriter({ db: database, ids: randomIds, attempt: 'benchmark' })
  await index.start('source')
  for (let written = 0; written < chunks; written += chunksAtOnce)
    await index.add(
      'source',
      Array.from({ length: chunksAtOnce }, () => chunkOf(text.text(900))),
    )
  await index.finish('source')
  const makeVector = topicVectors(11)
  for (let sequence = 1; sequence <= chunks; sequence += chunksAtOnce) {
    // As each part of a source begins.
    await engine.createVectors(db, provider)
    await db.transaction().execute(async transaction => {
      for (let at = 0; at < chunksAtOnce; at += 1)
        await engine.writeVectors(transaction, provider, [{ sequence: sequence + at, vector: makeVector() }])
    })
  }
}

/** Vectors as those of texts: each is near a topic, some way from a second one, and has something of its own. */
function topicVectors(seed: number): () => Float32Array {
  const random = randomNumbers(seed)
  const direction = (length: number) => {
    const scale = length / Math.sqrt(provider.dimensions / 12)
    return Float32Array.from({ length: provider.dimensions }, () => (random() - 0.5) * scale)
  }
  const topics = Array.from({ length: 2000 }, () => direction(1))
  const topic = () => topics[Math.floor(random() * topics.length)] ?? direction(1)
  return () => {
    const [first, second, own] = [topic(), topic(), direction(0.7)]
    return own.map((value, index) => value + (first[index] ?? 0) + 0.5 * (second[index] ?? 0))
  }
}

/** The threads' own memory, some of which stays when they end, is not what grows with a collection. */
async function warmUp(path: string): Promise<void> {
  await withAgentDatabase(path, { readOnly: false }, async database => {
    await addSource(database.db, 'source')
    const index = createIndexWriter({ db: database, ids: randomIds, attempt: 'benchmark' })
    await index.start('source')
    await index.add('source', [chunkOf('a text')])
    await index.finish('source')
  })
  await Promise.all([1, 2, 3, 4].map(() => searchIndex.search(path, { text: 'a text', limit: 10 })))
  await delay(idleMs)
}

async function measureSearch(path: string): Promise<Row[]> {
  const writer = createWriter(4)
  const times: number[] = []
  const before = process.memoryUsage()
  const busy = process.cpuUsage()
  for (let number = -20; number < searches; number += 1) {
    const text = writer.words(3 + (Math.abs(number) % 8))
    const begun = performance.now()
    await searchIndex.search(path, { text, limit: 10 })
    if (number >= 0) times.push(performance.now() - begun)
  }
  const { user, system } = process.cpuUsage(busy)
  const each = (user + system) / 1000 / (searches + 20)
  await delay(idleMs)
  const kept = (process.memoryUsage().rss - before.rss) / 1024 ** 2
  const what = `search, p50 of ${searches}`
  return [
    line(what, median(times), { bar: { most: 20 } }),
    line('  p99', percentile(times, 0.99)),
    line('  processor time', each),
    {
      what: '  memory held more',
      service: `${rounded(kept)} MB`,
      figure: kept,
      unit: 'MB',
      bar: { most: 64 },
    },
  ]
}

function line(what: string, figure: number, rest: Partial<Row> = {}): Row {
  return { what, service: `${rounded(figure)} ms`, figure, unit: 'ms', ...rest }
}

type Asked = Omit<NearestQuery, 'limit'>

/** As the service asks: rare words count for more. */
async function builtinQuery({ db, engine }: SearchDatabase, text: string): Promise<Asked> {
  const { terms, chunks: all } = await engine.countTerms(db, queryTerms(text))
  const asked = embedQuery([...terms.keys()], term => Math.log(1 + all / (terms.get(term) ?? 1)))
  return asked ?? { vector: new Uint8Array(builtinSpace.dimensions / 8) }
}

async function measureVectors(path: string): Promise<Row[]> {
  const writer = createWriter(5)
  const makeVector = topicVectors(11)
  // As those that were stored begin, so that each query is near some.
  const kinds: [string, VectorSpace, (database: SearchDatabase) => Promise<Asked>][] = [
    ['built-in vectors', builtinSpace, database => builtinQuery(database, writer.words(8))],
    [`${provider.dimensions} floats`, provider, async () => ({ vector: blur(makeVector()) })],
  ]
  return await withAgentDatabase(path, { readOnly: true }, async database => {
    const rows: Row[] = []
    for (const [what, space, ask] of kinds) rows.push(...(await compare(database, what, space, ask)))
    return rows
  })
}

function blur(vector: Float32Array): Float32Array {
  return vector.map(value => value + (noise() - 0.5) * 0.1)
}

async function compare(
  database: SearchDatabase,
  what: string,
  space: VectorSpace,
  ask: (database: SearchDatabase) => Promise<Asked>,
): Promise<Row[]> {
  const { db, engine } = database
  const exact = await exactScans(db, space)
  const [times, references, recalls]: [number[], number[], number[]] = [[], [], []]
  for (let number = -5; number < vectorQueries; number += 1) {
    const query = { ...(await ask(database)), limit: 100 }
    const { result, milliseconds } = await timed(() => engine.nearestByVector(db, space, query))
    const reference = await timed(async () => exact.bySqliteVec(query))
    if (number < 0) continue
    times.push(milliseconds)
    references.push(reference.milliseconds)
    // Others that are as near as the tenth are as good as it.
    const least = (exact.similarities(query)[9] ?? 0) - 1e-6
    recalls.push(result.slice(0, 10).filter(({ similarity }) => similarity >= least).length / 10)
  }
  const [own, other] = [median(times), median(references)]
  const recall = recalls.reduce((sum, one) => sum + one, 0) / recalls.length
  return [
    {
      what: `${what}: ${onServer ? 'p50' : 'processor time'}`,
      service: `${rounded(own)} ms`,
      reference: `${rounded(other)} ms`,
      figure: other / own,
      unit: '×',
    },
    { what: '  recall@10', service: recall.toFixed(3), figure: recall, unit: '×', bar: { least: 0.98 } },
  ]
}

/** The same vectors in a table of sqlite-vec, and in memory for our own measure of similarity. */
async function exactScans(db: SearchDatabase['db'], space: VectorSpace) {
  const database = new DatabaseSync(':memory:', { allowExtension: true })
  load(database)
  const [type, cast] =
    space.form === 'bits'
      ? [`bit[${space.dimensions}]`, 'vec_bit']
      : [`float[${space.dimensions}] distance_metric=cosine`, 'vec_f32']
  database.exec(`create virtual table vectors using vec0(embedding ${type})`)
  const insert = database.prepare(`insert into vectors (rowid, embedding) values (?, ${cast}(?))`)
  const all: Uint8Array[] = []
  database.exec('begin')
  const table = { name: vectorTableName(space), dimensions: space.dimensions, form: space.form }
  for (let first = 1; first <= chunks; first += chunksAtOnce) {
    const sequences = Array.from({ length: chunksAtOnce }, (_, index) => first + index)
    for (const { sequence, vector } of await readVectors(db, table, sequences)) {
      const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)
      insert.run(BigInt(sequence), bytes)
      all.push(bytes)
    }
  }
  database.exec('commit')
  const nearest = database.prepare(
    `select rowid, distance from vectors where embedding match ${cast}(?) and k = ?`,
  )
  return {
    bySqliteVec: ({ vector, limit }: NearestQuery) =>
      nearest.all(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength), limit),
    /** Of the nearest ones, the greatest first. */
    similarities: (query: NearestQuery) =>
      Float64Array.from(all, similarityTo(space, query)).sort().reverse(),
  }
}

/** By the clock where a server works, too, and else the processor time of this process. */
async function timed<Result>(work: () => Promise<Result>) {
  const [before, begun] = [process.cpuUsage(), performance.now()]
  const result = await work()
  const { user, system } = process.cpuUsage(before)
  return { result, milliseconds: onServer ? performance.now() - begun : (user + system) / 1000 }
}
