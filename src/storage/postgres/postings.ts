/** How the lists of lexemes are read from the full-text index: which chunks hold one, and how often. */
import type { QueryExecutorProvider } from 'kysely'
import { sql } from 'kysely'
import { formOf, frequencies, quoted } from './lexemes.ts'

export interface Postings {
  /** Of the chunks, as the reader numbers them, in no order. */
  numbers: Uint32Array
  frequencies: Uint8Array
}

/** The numbers of chunks, by sequence. */
interface Numbered {
  numbers: ReadonlyMap<number, number>
}

/** As one value, since a row for each takes several times as long. */
const asOne = sql`string_agg(int8send(sequence), '')`

/** The lengths of all chunks, in terms, by sequence. */
export async function readLengths(db: QueryExecutorProvider): Promise<Map<number, number>> {
  const { rows } = await sql<{ sequences: Buffer | null; lengths: Buffer | null }>`
    select ${asOne} as sequences, string_agg(int4send(length), '') as lengths from chunk_text
  `.execute(db)
  const lengths = Buffer.from(rows[0]?.lengths ?? [])
  const sequences = sequencesIn(rows[0]?.sequences)
  return new Map(Array.from(sequences, (sequence, at) => [sequence, lengths.readUInt32BE(4 * at)]))
}

/** Chunks of which all lexemes are read in less time than it takes to look each one up. */
const fewChunks = 500

/** The lists of all these lexemes, in an index with these chunks. */
export async function readPostings(
  db: QueryExecutorProvider,
  index: Numbered,
  lexemes: readonly string[],
): Promise<Map<string, Postings>> {
  if (index.numbers.size <= fewChunks)
    return await readPostingsOf(db, index, [...index.numbers.keys()], lexemes)
  if (lexemes.length === 0) return new Map()
  // The expression of one form alone is answered by the index: it says nothing of what else a chunk holds.
  const forms = formsOf(lexemes)
  const { rows } = await sql<{ sequences: Buffer | null }>`
    select (select ${asOne} from chunk_text where terms @@ form) as sequences
    from unnest(${forms.map(({ form }) => quoted(form))}::tsquery[]) with ordinality as asked (form, place)
    order by place
  `.execute(db)
  const found = new Map(forms.map(({ form }, at) => [form, rows[at]?.sequences]))
  return new Map(lexemes.map(lexeme => [lexeme, listOf(index, lexeme, found)]))
}

/** What only these of the chunks add to the lists. */
export async function readPostingsOf(
  db: QueryExecutorProvider,
  index: Numbered,
  sequences: readonly number[],
  lexemes: readonly string[],
): Promise<Map<string, Postings>> {
  if (lexemes.length === 0) return new Map()
  // Joined, since a plan that the server keeps would compare each form in these texts with each of the lexemes.
  const { rows } = await sql<{ form: string; sequences: Buffer }>`
    select form, ${asOne} as sequences
    from chunk_text, unnest(tsvector_to_array(terms)) as form
    join unnest(${lexemes}::text[]) as lexeme on lexeme = split_part(form, ' ', 1)
    where sequence = any(${`{${sequences.join(',')}}`}::bigint[]) group by form
  `.execute(db)
  const found = new Map(rows.map(row => [row.form, row.sequences]))
  return new Map(lexemes.map(lexeme => [lexeme, listOf(index, lexeme, found)]))
}

function formsOf(lexemes: readonly string[]) {
  return lexemes.flatMap(lexeme => frequencies.map(frequency => ({ form: formOf(lexeme, frequency) })))
}

/** @param found by the forms of lexemes, the sequences of the chunks that hold each. */
function listOf(
  { numbers }: Numbered,
  lexeme: string,
  found: ReadonlyMap<string, Buffer | null | undefined>,
): Postings {
  return joined(
    frequencies.map(frequency => {
      const sequences = sequencesIn(found.get(formOf(lexeme, frequency)))
      const own = new Uint32Array(sequences.length)
      for (let at = 0; at < own.length; at += 1) own[at] = numbers.get(sequences[at] ?? 0) ?? 0
      return { numbers: own, frequencies: new Uint8Array(own.length).fill(frequency) }
    }),
  )
}

export function joined(lists: readonly (Postings | undefined)[]): Postings {
  const length = lists.reduce((sum, list) => sum + (list?.numbers.length ?? 0), 0)
  const whole = { numbers: new Uint32Array(length), frequencies: new Uint8Array(length) }
  let at = 0
  for (const list of lists) {
    if (list === undefined) continue
    whole.numbers.set(list.numbers, at)
    whole.frequencies.set(list.frequencies, at)
    at += list.numbers.length
  }
  return whole
}

/** Of eight bytes each, as PostgreSQL sends them. */
function sequencesIn(bytes: Buffer | null | undefined): Float64Array {
  const sequences = new Float64Array((bytes?.length ?? 0) / 8)
  if (!bytes) return sequences
  for (let at = 0; at < sequences.length; at += 1)
    sequences[at] = bytes.readUInt32BE(8 * at) * 2 ** 32 + bytes.readUInt32BE(8 * at + 4)
  return sequences
}
