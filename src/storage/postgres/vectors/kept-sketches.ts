/** Reads the sketches of a table, and caches them for the thread's next searches. */
import { type QueryExecutorProvider, sql } from 'kysely'
import { sketchesOf } from './sketch-rows.ts'
import type { Chosen, SketchBlock } from './sketch-scan.ts'

/** Bytes that a thread caches, for all agents: the sketches of more than a hundred thousand chunks. */
const maxBytes = 32 * 1024 ** 2
/** Approximate size of a row beyond its sketches. */
const overhead = 512
/** Max rows read at a time: 4 MiB. */
const rowsAtOnce = 64

/** The cached blocks by row id, the most recently used last. */
const kept = new Map<string, SketchBlock>()
let bytes = 0

interface Listed extends Chosen {
  id: string
}

/** Reads the sketches of a table, in one transaction, so that no row is added or removed meanwhile. */
export async function* readSketches(
  db: QueryExecutorProvider,
  table: string,
): AsyncGenerator<Chosen & { block: SketchBlock }> {
  const rows = await listRows(db, table)
  const missing: Listed[] = []
  for (const row of rows) {
    const block = kept.get(row.id)
    if (block === undefined) {
      missing.push(row)
      continue
    }
    kept.delete(row.id)
    kept.set(row.id, block)
    yield { ...row, block }
  }
  const inUse = new Set(rows.map(({ id }) => id))
  for (let start = 0; start < missing.length; start += rowsAtOnce)
    yield* fetchRows(db, table, missing.slice(start, start + rowsAtOnce), inUse)
}

/** One value, because a row each takes several times as long. */
async function listRows(db: QueryExecutorProvider, table: string): Promise<Listed[]> {
  const { rows } = await sql<{ list: string | null }>`
    select string_agg(id || ':' || array_to_string(gone, ','), ' ') as list from ${sketchesOf(table)}
  `.execute(db)
  const list = rows[0]?.list
  return list ? list.split(' ').map(listed) : []
}

function listed(text: string): Listed {
  const [id = '', gone = ''] = text.split(':')
  return { id, gone: gone === '' ? undefined : new Set(gone.split(',').map(Number)) }
}

async function* fetchRows(
  db: QueryExecutorProvider,
  table: string,
  wanted: readonly Listed[],
  inUse: ReadonlySet<string>,
): AsyncGenerator<Chosen & { block: SketchBlock }> {
  const { rows } = await sql<{ id: string; sequences: string; sketches: Buffer }>`
    select id, array_to_string(sequences, ',') as sequences, sketches from ${sketchesOf(table)}
    where id = any(${wanted.map(({ id }) => id)}::uuid[])
  `.execute(db)
  const byId = new Map(wanted.map(row => [row.id, row]))
  for (const { id, sequences, sketches } of rows) {
    const block = { sequences: Float64Array.from(sequences.split(','), Number), sketches: wordsOf(sketches) }
    keep(id, block, inUse)
    yield { ...byId.get(id), block }
  }
}

/** Evicts the least recently used rows, but none that this search reads: they would be read again by each search. */
function keep(id: string, block: SketchBlock, inUse: ReadonlySet<string>): void {
  const size = sizeOf(block)
  for (const [oldest, other] of kept) {
    if (bytes + size <= maxBytes) break
    if (inUse.has(oldest)) return
    kept.delete(oldest)
    bytes -= sizeOf(other)
  }
  if (bytes + size > maxBytes || kept.has(id)) return
  kept.set(id, block)
  bytes += size
}

/** Copies the bytes, because small values are slices of larger buffers, which they would keep alive. */
function wordsOf(sketches: Buffer): Uint32Array {
  return new Uint32Array(Uint8Array.from(sketches).buffer)
}

function sizeOf({ sequences, sketches }: SketchBlock): number {
  return overhead + sequences.byteLength + sketches.byteLength
}
