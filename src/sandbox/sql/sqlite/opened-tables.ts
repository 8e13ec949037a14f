/**
 * The tables that a statement opens, read from its compiled form (https://sqlite.org/opcode.html). The authorizer alone
 * would miss some: SQLite does not call it for columns that are matched by `USING` or `NATURAL`.
 */
import type { DatabaseSync } from 'node:sqlite'
import { quoted } from '#storage/sqlite/quoted.ts'
import { explainedToken } from '../statement.ts'
import { tokensOf } from '../tokens.ts'

export interface OpenedTables {
  /** Returns a value that changes whenever any connection changes the schema. */
  schemaVersion(): unknown
  /** Returns the names of tables that a valid statement opens; undefined for one of unknown name. */
  of(query: string): (string | undefined)[]
}

/** An instruction that opens a table, or an index of one: by its root page, or at the address of a virtual table. */
interface Opening {
  opcode: 'OpenRead' | 'OpenWrite' | 'ReopenIdx' | 'VOpen'
  schema: bigint
  page: bigint
  address: string | null
}

const opening = new Set(['OpenRead', 'OpenWrite', 'ReopenIdx', 'VOpen'])

/** The numbers of the schemas. */
const main = 0
const temporary = 1

/** The table with the last number of each table with AUTOINCREMENT. */
const sequences = 'sqlite_sequence'

/** @param database returns arrays and BigInt, and must not refuse the statements here. */
export function createOpenedTables(database: DatabaseSync): OpenedTables {
  const version = database.prepare('pragma schema_version')
  let pages = new Map<string, string>()
  let pagesVersion: unknown

  const rows = (query: string) =>
    database.prepare(query).iterate() as Iterable<unknown> as Iterable<unknown[]>
  const schemaVersion = () => Object.values(version.get() ?? [])[0]

  /** Returns only the instructions that open tables; others can be very many. */
  function compile(query: string): Opening[] {
    const found: Opening[] = []
    for (const [, opcode, , page, schema, address] of rows(`explain ${query}`))
      if (opening.has(String(opcode))) found.push({ opcode, page, schema, address } as Opening)
    return found
  }

  /** Returns tables by schema and root page. Reading also updates the schema of SQLite's later statements. */
  function tablesByPage(): Map<string, string> {
    const current = schemaVersion()
    if (current === pagesVersion) return pages
    const roots = rows(`
      select ${main}, rootpage, tbl_name from main.sqlite_schema union all select ${main}, 1, 'sqlite_schema' union all
      select ${temporary}, rootpage, tbl_name from temp.sqlite_schema union all
      select ${temporary}, 1, 'sqlite_temp_schema'`)
    pages = new Map(Array.from(roots, ([schema, page, table]) => [`${schema} ${page}`, String(table)]))
    pagesVersion = current
    return pages
  }

  /** Returns tables by address, which is found by compiling a statement on each virtual table. */
  function virtualTables(): Map<string | null, string> {
    const names = rows(`select name from pragma_module_list union
      select name from main.sqlite_schema where type = 'table' and rootpage = 0`)
    const tables = Array.from(names, ([name]) => String(name))
    return new Map(tables.flatMap(name => addressesOf(name).map(address => [address, name])))
  }

  function addressesOf(name: string): (string | null)[] {
    try {
      return compile(`select 1 from ${quoted(name)}`).map(({ address }) => address)
    } catch {
      // Most modules are no tables.
      return []
    }
  }

  return {
    schemaVersion,
    of(query) {
      const byPage = tablesByPage()
      const all = compile(withoutExplain(query))
      const byAddress = all.some(isVirtual) ? virtualTables() : new Map<string | null, string>()
      const named = all.map(one => {
        const table = isVirtual(one) ? byAddress.get(one.address) : byPage.get(`${one.schema} ${one.page}`)
        return { opcode: one.opcode, table }
      })
      return withoutNumbering(named)
    },
  }
}

function isVirtual({ opcode }: Opening): boolean {
  return opcode === 'VOpen'
}

/** Returns the statement within an EXPLAIN, which alone is compiled to the final instructions. */
function withoutExplain(query: string): string {
  const tokens = tokensOf(query, 'sqlite').filter(({ text }) => text !== ';')
  const [first] = tokens
  const begin = first?.text === 'explain' ? explainedToken(tokens) : first
  return query.slice(begin?.start)
}

/**
 * Removes the last number, which inserting into a table with AUTOINCREMENT reads and writes. No statement may
 * write it, so any further opening to read is the statement's own.
 */
function withoutNumbering(
  opened: { opcode: Opening['opcode']; table: string | undefined }[],
): (string | undefined)[] {
  const count = (kind: Opening['opcode']) =>
    opened.filter(({ opcode, table }) => table === sequences && opcode === kind).length
  const isNumbering = count('OpenRead') === count('OpenWrite')
  return opened.map(({ table }) => table).filter(table => !(isNumbering && table === sequences))
}
