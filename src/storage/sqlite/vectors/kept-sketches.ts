/**
 * The sketches that a thread has cached for its next searches. Each block carries the number of its last change, so a
 * search reads only the blocks that others have written since.
 */
import { type QueryExecutorProvider, type RawBuilder, sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import { onceIdle } from '../../search/once-idle.ts'
import { sketchBytes } from '../../search/sketch-bits.ts'
import { countIn, type SketchBlock } from './sketches.ts'

/** Sketches in a row: larger rows are faster to read, smaller ones faster to write. */
export const sketchesPerBlock = 64

export const blockBytes = sketchesPerBlock * sketchBytes
/** The row with the first change number, before those of sketches. */
export const noBlock = -1

/** Bytes of sketches that a thread caches; those beyond are read again by each search. */
export const maxBytes = 32 * 1024 * 1024
/** Max uncached rows held in memory at a time. */
const blocksAtOnce = 64

interface Kept {
  /** The cached blocks by number. */
  blocks: ReadonlyMap<number, Block>
  /** The newest change that is known. */
  seen: number
  /** All blocks up to this one are included, except those without sketches. */
  last: number
  /** True if there are no other blocks. */
  isWhole: boolean
}

interface Block extends SketchBlock {
  count: number
}

const none: Kept = { blocks: new Map(), seen: -1, last: -1, isWhole: true }
const keptOf = new LRUCache<string, Kept>({ maxSize: maxBytes })
const inUse = onceIdle(() => keptOf.clear())

export interface Sketches {
  /** Number of sketches; of uncached ones, the max possible number. */
  total: number
  /** The blocks, some at a time. */
  blocks: AsyncIterable<Iterable<SketchBlock>>
}

/** Reads the sketches of a table. Must not be called in a transaction that can still be rolled back. */
export async function readSketches(db: QueryExecutorProvider, table: RawBuilder<unknown>): Promise<Sketches> {
  inUse()
  const { key, newest } = await stateOf(db, table)
  const known = keptOf.get(key) ?? none
  const cache = newest > known.seen ? await updated(db, table, known, newest) : known
  if (cache !== known) keptOf.set(key, cache, { size: bytesOf(cache.blocks) })
  return { total: await countSketches(db, table, cache), blocks: allBlocks(db, table, cache) }
}

/** A file that reuses the name of a former one has different tables: each starts with a random change number. */
async function stateOf(db: QueryExecutorProvider, table: RawBuilder<unknown>) {
  const { rows } = await sql<{ key: string; newest: number }>`
    select (select file from pragma_database_list where name = 'main') || ' ' || changed as key,
      (select max(changed) from ${table}) as newest
    from ${table} where block = ${noBlock}`.execute(db)
  const [state] = rows
  if (state === undefined) throw new Error('a table of sketches has lost its first row')
  return state
}

async function updated(
  db: QueryExecutorProvider,
  table: RawBuilder<unknown>,
  known: Kept,
  newest: number,
): Promise<Kept> {
  const blocks = new Map(known.blocks)
  const { rows } = await sql<Row>`
    select block, sketches from ${table}
    where changed > ${known.seen} and block between 0 and ${known.last}`.execute(db)
  for (const row of rows) keep(blocks, row)
  let { last, isWhole } = known
  if (!isWhole) return { blocks, seen: newest, last, isWhole }
  isWhole = false
  while (!isWhole && bytesOf(blocks) + blocksAtOnce * blockBytes <= maxBytes) {
    const next = await nextBlocks(db, table, last)
    for (const row of next) keep(blocks, row)
    last = next.at(-1)?.block ?? last
    isWhole = next.length < blocksAtOnce
  }
  return { blocks, seen: newest, last, isWhole }
}

interface Row {
  block: number
  sketches: Uint8Array
}

function keep(blocks: Map<number, Block>, row: Row): void {
  if (row.sketches.length === 0) blocks.delete(row.block)
  else blocks.set(row.block, blockOf(row))
}

function blockOf({ block, sketches }: Row): Block {
  return { start: block * sketchesPerBlock, sketches, count: countIn(sketches) }
}

function bytesOf(blocks: ReadonlyMap<number, Block>): number {
  return 1 + blocks.size * blockBytes
}

async function nextBlocks(db: QueryExecutorProvider, table: RawBuilder<unknown>, last: number) {
  const { rows } = await sql<Row>`
    select block, sketches from ${table} where block > ${last} order by block limit ${blocksAtOnce}
  `.execute(db)
  return rows
}

async function countSketches(db: QueryExecutorProvider, table: RawBuilder<unknown>, kept: Kept) {
  const known = Iterator.from(kept.blocks.values()).reduce((sum, { count }) => sum + count, 0)
  if (kept.isWhole) return known
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${table} where block > ${kept.last}`.execute(db)
  return known + (rows[0]?.count ?? 0) * sketchesPerBlock
}

async function* allBlocks(db: QueryExecutorProvider, table: RawBuilder<unknown>, kept: Kept) {
  yield kept.blocks.values()
  if (kept.isWhole) return
  for (let { last } = kept; ; ) {
    const rows = await nextBlocks(db, table, last)
    yield rows.map(blockOf)
    last = rows.at(-1)?.block ?? last
    if (rows.length < blocksAtOnce) return
  }
}
