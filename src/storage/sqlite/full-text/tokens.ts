/** Finds the token under which the full-text index stores a term: it stems English words in its own way. */
import type { QueryExecutorProvider } from 'kysely'
import { LRUCache } from 'lru-cache'
import { runText } from '../run-text.ts'

/** Marks remain parts of words (Hindi and Thai vowels are marks); callers have removed those to ignore. */
export const tokenizer = `porter unicode61 remove_diacritics 0 categories 'L* N* Co M*'`

/** Total length of the terms that a thread caches, in characters. */
const maxRemembered = 256 * 1024
/** Marks a term that is not exactly one token. */
const none = ''

const remembered = new LRUCache<string, string>({
  maxSize: maxRemembered,
  sizeCalculation: (token, term) => token.length + term.length + 16,
})

/** Returns the token of each term, undefined for one that yields no token or several. */
export async function tokensOf(
  db: QueryExecutorProvider,
  terms: readonly string[],
): Promise<(string | undefined)[]> {
  const tokens = new Map(terms.map(term => [term, remembered.get(term)]))
  const missing = terms.filter(term => tokens.get(term) === undefined)
  if (missing.length > 0)
    for (const [term, token] of await tokenize(db, missing)) {
      tokens.set(term, token)
      remembered.set(term, token)
    }
  return terms.map(term => tokens.get(term) || undefined)
}

/** FTS5 reveals how it tokenises a text only through an index, so each connection has a temporary one for this. */
async function tokenize(
  db: QueryExecutorProvider,
  terms: readonly string[],
): Promise<[term: string, token: string][]> {
  await runText(
    db,
    `create virtual table if not exists temp.asked using fts5(terms, content = '', tokenize = "${tokenizer}")`,
  )
  await runText(
    db,
    `create virtual table if not exists temp.asked_tokens using fts5vocab('temp', 'asked', 'instance')`,
  )
  await runText(db, `insert into temp.asked (asked) values ('delete-all')`)
  await runText(
    db,
    'insert into temp.asked (rowid, terms) select key, value from json_each(?)',
    JSON.stringify(terms),
  )
  const rows = await runText<{ doc: number; term: string }>(db, 'select doc, term from temp.asked_tokens')
  const found = Map.groupBy(rows, ({ doc }) => doc)
  return terms.map((term, index) => {
    const [first, ...others] = found.get(index) ?? []
    return [term, first === undefined || others.length > 0 ? none : first.term]
  })
}
