/** Joins the text of a document from its passages: its text is not stored otherwise. */
import { type Static, Type } from 'typebox'
import { orNull } from '#platform/own-schemas.ts'
import type { AgentDatabase as Database } from '#storage/tables.ts'

/** Max size of one response, in UTF-16 units and passages. */
export const maxTextLength = 100_000
const maxPassages = 1_000

const offset = { description: 'Offset in the extracted text, in UTF-16 code units.' }

export const documentTextSchema = Type.Object(
  {
    start: Type.Integer(offset),
    end: Type.Integer({ description: 'Where `text` ends. There is more if it is less than `length`.' }),
    length: Type.Integer({ description: 'Length of the whole text.' }),
    text: Type.String(),
    passages: Type.Array(
      Type.Object({
        id: Type.String(),
        start: Type.Integer(offset),
        end: Type.Integer(),
        page: orNull(Type.Integer()),
        section: orNull(Type.String()),
      }),
      { description: 'The passages that overlap `text`, in order.' },
    ),
  },
  { title: 'DocumentText' },
)
export type DocumentText = Static<typeof documentTextSchema>

interface Part {
  sourceId: string
  /** The page of a website; empty for a source with a single document. */
  document: string
  start: number
  /** The exclusive end. */
  end: number
}

/** Returns a part of a document's shown text; empty if there are no passages in it. */
export async function readText(db: Database, part: Part): Promise<DocumentText> {
  const shown = await shownRange(db, part)
  const text = await readShown(db, part, shown)
  const now = await shownRange(db, part)
  // If other passages are shown by now, the ones just read are being removed.
  return now.first === shown.first && now.last === shown.last ? text : await readText(db, part)
}

interface Shown {
  first: number
  last: number
}

async function shownRange(db: Database, { sourceId, document }: Part): Promise<Shown> {
  const row = await db
    .selectFrom('chunk_generations')
    .select(['first_sequence', 'last_sequence'])
    .where('source_id', '=', sourceId)
    .where('document', '=', document)
    .executeTakeFirst()
  return { first: Number(row?.first_sequence ?? 1), last: Number(row?.last_sequence ?? 0) }
}

async function readShown(db: Database, part: Part, { first, last }: Shown): Promise<DocumentText> {
  const chunks = db
    .selectFrom('chunks')
    .where('source_id', '=', part.sourceId)
    .where('document', '=', part.document)
    .where('sequence', '<=', last)

  /** Returns the first sequence with a greater offset: offsets ascend with the sequences. */
  async function firstBeyond(column: 'start_offset' | 'end_offset', limit: number): Promise<number> {
    let [low, high] = [first, last + 1]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const chunk = await chunks
        .select(['sequence', 'start_offset', 'end_offset'])
        .where('sequence', '>=', middle)
        .orderBy('sequence')
        .limit(1)
        .executeTakeFirst()
      if (chunk === undefined || chunk[column] > limit) high = middle
      else low = Number(chunk.sequence) + 1
    }
    return low
  }

  const final = await chunks
    .select('end_offset')
    .where('sequence', '>=', first)
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst()
  const length = final?.end_offset ?? 0
  const start = Math.min(part.start, length)
  const end = Math.max(start, Math.min(part.end, start + maxTextLength, length))
  if (start === end) return { start, end, length, text: '', passages: [] }
  const rows = await chunks
    .select(['id', 'content', 'start_offset as start', 'end_offset as end', 'page', 'section'])
    .where('sequence', '>=', await firstBeyond('end_offset', start))
    .where('sequence', '<', await firstBeyond('start_offset', end - 1))
    .orderBy('sequence')
    .limit(maxPassages)
    .execute()
  const reached = rows.length < maxPassages ? end : Math.min(end, rows.at(-1)?.end ?? end)
  const passages = rows.map(({ content, ...passage }) => passage)
  return { start, end: reached, length, text: joined(rows, start, reached), passages }
}

/** Joins chunks: text between them was only white space, which is not stored. */
export function joined(
  chunks: readonly { content: string; start: number; end: number }[],
  start: number,
  end: number,
) {
  let text = ''
  for (const chunk of chunks) {
    const at = start + text.length
    const gap = chunk.start - at
    if (gap > 0) text += gap === 1 ? ' ' : '\n\n'.padEnd(gap)
    const from = Math.max(0, at - chunk.start)
    // Masked secrets might have made the chunk shorter.
    text += chunk.content.padEnd(chunk.end - chunk.start).slice(from, chunk.end - chunk.start)
  }
  return text.padEnd(end - start).slice(0, end - start)
}
