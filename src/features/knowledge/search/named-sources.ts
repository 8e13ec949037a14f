import { type Kysely, type SqlBool, sql } from 'kysely'
import { isPiece, isStopWord, termsOf } from '#models/text-analysis/text-analysis.ts'
import { prepareQuery, type ValueOf } from '#platform/prepared-query.ts'
import type { AgentTables } from '#storage/tables.ts'

export interface NamedSources {
  sourceIds: string[]
  /** The text without the names. */
  rest: string
}

/** Max characters that are searched for names, and max sources that they can name. */
const searchedCharacters = 1_000
const maxSources = 20

/** Returns the sources whose whole names appear in a text, in any letter case; undefined without any. */
export async function findNamedSources(
  db: Kysely<AgentTables>,
  text: string,
): Promise<NamedSources | undefined> {
  // PostgreSQL refuses U+0000, which a model can write.
  const beginning = text.slice(0, searchedCharacters).toWellFormed().replaceAll('\u0000', ' ')
  const sources = (await selectNamed(db, { text: beginning })).filter(({ name }) => isDistinctive(name))
  if (sources.length === 0) return undefined
  const names = new Set<string>()
  const rest = text.replace(new RegExp(sources.map(({ name }) => wholly(name)).join('|'), 'giu'), name => {
    names.add(name.toLowerCase())
    return ' '
  })
  const sourceIds = sources.filter(({ name }) => names.has(name.toLowerCase())).map(({ id }) => id)
  return sourceIds.length === 0 ? undefined : { sourceIds, rest }
}

/** The longest names come first because one can contain another. */
const selectNamed = prepareQuery((db: Kysely<AgentTables>, value: ValueOf<'text'>) => {
  const text = sql<string>`fold_case(${value('text')})`
  return db
    .selectFrom('sources')
    .select(['id', 'name'])
    .where('removed_at', 'is', null)
    .where(sql<SqlBool>`replace(${text}, fold_case(name), '') <> ${text}`)
    .orderBy(sql`length(name)`, 'desc')
    .limit(maxSources)
})

/** True for a distinctive name: "The" is in every second question. */
function isDistinctive(name: string): boolean {
  return termsOf(name).some(term => !isStopWord(term))
}

/** Matches a name, but not as a part of a longer word, where spaces separate words. */
function wholly(name: string): string {
  const pattern = RegExp.escape(name)
  return isPiece(name) ? pattern : `(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])`
}
