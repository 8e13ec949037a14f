/** Reads the lists of lexemes from the full-text index: which chunks contain one, with its frequency. */
import { type QueryExecutorProvider, sql } from 'kysely'
import { type ChunkNumbers, neighbours } from './chunk-places.ts'
import { formOf, frequencies, quoted } from './lexemes.ts'
import { allChunks, frequencyBits, neighbourhoodForm } from './packed-lists.ts'

/**
 * The chunks that contain a lexeme, in no particular order: each as its number (the reader's own), with the position of
 * its frequency in `frequencies` in the last two bits.
 */
export type Postings = Uint32Array

/** The part of an index that is needed to read lists. */
export interface KnownChunks {
  numbers: ChunkNumbers
  /** Sequences by number, including those of removed chunks. */
  sequences: readonly number[]
  /** By number: 1 if the chunk is in packed lists, which are then complete for it. */
  arePacked: Uint8Array
  /** The neighbourhoods of the other chunks. */
  unpacked: readonly number[]
}

export interface StoredChunks {
  sequences: number[]
  lengths: number[]
  arePacked: Uint8Array
  unpacked: number[]
}

/** Reads all chunks, with their lengths in terms. */
export async function readChunks(db: QueryExecutorProvider): Promise<StoredChunks> {
  // Few large values, because a row each takes several times as long.
  const { rows } = await sql<{
    neighbourhood: number
    places: Buffer
    lengths: Buffer
    packed: Buffer | null
  }>`
    with held as (
      select sequence / ${sql.lit(neighbours)} as neighbourhood,
        string_agg(int2send((sequence % ${sql.lit(neighbours)})::smallint), '') as places,
        string_agg(int4send(length), '') as lengths
      from chunk_text group by 1
    )
    select held.*, entries as packed from held
    left join chunk_text_lists as lists on lists.neighbourhood = held.neighbourhood and lexeme = ${allChunks}
    order by neighbourhood
  `.execute(db)
  const count = rows.reduce((sum, { places }) => sum + places.length / 2, 0)
  const stored: StoredChunks = { sequences: [], lengths: [], arePacked: new Uint8Array(count), unpacked: [] }
  for (const { neighbourhood, places, lengths, packed } of rows) {
    const isPacked = new Uint8Array(neighbours)
    for (const entry of integersIn(packed)) isPacked[entry >>> frequencyBits] = 1
    for (const [at, place] of integersIn(places).entries()) {
      stored.arePacked[stored.sequences.length] = isPacked[place] ?? 0
      if (isPacked[place] === 0 && stored.unpacked.at(-1) !== neighbourhood)
        stored.unpacked.push(neighbourhood)
      stored.sequences.push(neighbourhood * neighbours + place)
      stored.lengths.push(lengths.readUInt32BE(4 * at))
    }
  }
  return stored
}

/** Max chunks for which reading all their lexemes is faster than looking each lexeme up. */
const fewChunks = 500

/** Reads the lists of these lexemes in an index with these chunks. */
export async function readPostings(
  db: QueryExecutorProvider,
  index: KnownChunks,
  lexemes: readonly string[],
): Promise<Map<string, Postings>> {
  if (index.sequences.length <= fewChunks)
    return await readPostingsOf(db, index.numbers, index.sequences, lexemes)
  if (lexemes.length === 0) return new Map()
  const forms = index.unpacked.length === 0 ? [] : lexemes.flatMap(formsOf)
  const queries = forms.map(({ form }) => `${quoted(form)}${within(index)}`)
  const { rows } = await sql<{ name: string; neighbourhood: number | null; entries: Buffer | null }>`
    select lexeme as name, neighbourhood, entries from chunk_text_lists where lexeme = any(${lexemes}::text[])
    union all
    select form, null, (select ${asOne} from chunk_text where terms @@ query)
    from unnest(${forms.map(({ form }) => form)}::text[], ${queries}::tsquery[]) as wanted (form, query)
  `.execute(db)
  const byForm = new Map(forms.map(one => [one.form, one]))
  const parts = new Map(lexemes.map(lexeme => [lexeme, [] as Postings[]]))
  for (const { name, neighbourhood, entries } of rows) {
    if (neighbourhood !== null) parts.get(name)?.push(packedEntries(index, neighbourhood, entries))
    else {
      const { lexeme = '', place = 0 } = byForm.get(name) ?? {}
      const found = entriesOf(index.numbers, entries, place)
      parts.get(lexeme)?.push(found.filter(entry => index.arePacked[entry >>> frequencyBits] === 0))
    }
  }
  return new Map(Array.from(parts, ([lexeme, some]) => [lexeme, joined(some)]))
}

/** One value, because a row each takes several times as long. */
const asOne = sql`string_agg(int8send(sequence), '')`

/** Max neighbourhoods for which searching some of them is faster than searching all. */
const fewNeighbourhoods = 16

/**
 * Narrows an expression to the chunks that are not packed, and few others. Like the expression of a single form, it can
 * be answered from the index alone.
 */
function within({ arePacked, unpacked }: KnownChunks): string {
  if (unpacked.length > fewNeighbourhoods || !arePacked.includes(1)) return ''
  return ` & (${unpacked.map(neighbourhood => quoted(neighbourhoodForm(neighbourhood))).join(' | ')})`
}

/** Reads the additions of these chunks to the lists. */
export async function readPostingsOf(
  db: QueryExecutorProvider,
  numbers: Pick<ChunkNumbers, 'get'>,
  sequences: readonly number[],
  lexemes: readonly string[],
): Promise<Map<string, Postings>> {
  if (lexemes.length === 0) return new Map()
  // A join, because a cached plan would compare each form in these texts with each lexeme.
  const { rows } = await sql<{ form: string; sequences: Buffer }>`
    select form, ${asOne} as sequences
    from chunk_text, unnest(tsvector_to_array(terms)) as form
    join unnest(${lexemes}::text[]) as lexeme on lexeme = split_part(form, ' ', 1)
    where sequence = any(${`{${sequences.join(',')}}`}::bigint[]) group by form
  `.execute(db)
  const found = new Map(rows.map(row => [row.form, row.sequences]))
  const listOf = (lexeme: string) =>
    joined(formsOf(lexeme).map(({ form, place }) => entriesOf(numbers, found.get(form), place)))
  return new Map(lexemes.map(lexeme => [lexeme, listOf(lexeme)]))
}

function formsOf(lexeme: string) {
  return frequencies.map((frequency, place) => ({ form: formOf(lexeme, frequency), lexeme, place }))
}

export function joined(lists: readonly Postings[]): Postings {
  const whole = new Uint32Array(lists.reduce((sum, list) => sum + list.length, 0))
  let at = 0
  for (const list of lists) {
    whole.set(list, at)
    at += list.length
  }
  return whole
}

/** @param sequences of eight bytes each; unknown chunks are skipped. */
function entriesOf(
  numbers: Pick<ChunkNumbers, 'get'>,
  sequences: Buffer | null | undefined,
  frequency: number,
): Postings {
  const entries = new Uint32Array((sequences?.length ?? 0) / 8)
  let count = 0
  for (let at = 0; at < entries.length; at += 1) {
    const sequence =
      (sequences?.readUInt32BE(8 * at) ?? 0) * 2 ** 32 + (sequences?.readUInt32BE(8 * at + 4) ?? 0)
    const number = numbers.get(sequence)
    if (number === undefined) continue
    entries[count] = (number << frequencyBits) | frequency
    count += 1
  }
  return entries.slice(0, count)
}

/**
 * Returns entries of a neighbourhood's packed list, without removed chunks and those that the index reports:
 * if two processes pack at once, the second one can leave lists of chunks that were added meanwhile.
 */
function packedEntries(
  { numbers, arePacked }: KnownChunks,
  neighbourhood: number,
  bytes: Buffer | null,
): Postings {
  const packed = integersIn(bytes)
  const entries = new Uint32Array(packed.length)
  let count = 0
  for (const entry of packed) {
    const number = numbers.get(neighbourhood * neighbours + (entry >>> frequencyBits))
    if (number === undefined || arePacked[number] === 0) continue
    entries[count] = (number << frequencyBits) | (entry & (frequencies.length - 1))
    count += 1
  }
  return entries.slice(0, count)
}

/** Integers of two bytes each, as PostgreSQL sends them. */
function integersIn(bytes: Buffer | null): Uint16Array {
  const integers = new Uint16Array((bytes?.length ?? 0) / 2)
  for (let at = 0; at < integers.length; at += 1) integers[at] = bytes?.readUInt16BE(2 * at) ?? 0
  return integers
}
