/** SQLite calls this before it compiles each step of a statement, including those of views and triggers. */
import { constants } from 'node:sqlite'
import { isForbiddenFunction, refusedFunction } from '../forbidden-functions.ts'
import { isReadOnlyPragma, refusedPragma } from '../pragmas.ts'
import { accessTo, mayChange } from '../table-access.ts'

export interface Rights {
  readOnly: boolean
}

export interface Authorizer {
  /** Decides on a step, for `DatabaseSync.setAuthorizer`. */
  decide(action: number, first: string | null, second: string | null): number
  /** Begins a statement with these permissions. */
  begin(rights: Rights): void
  /** Returns the reason of a refusal, as a sentence; undefined without one. */
  refusal(): string | undefined
  /** Returns true if the last compiled statement writes. */
  writes(): boolean
  /** Runs the service's own statements, which are never refused. */
  trust<Result>(work: () => Result): Result
}

type Decision = string | undefined

const notAllowed = 'This statement is not allowed here.'

/** The PRAGMA of SQLite's own full-text search while it runs. */
const internalPragma = 'data_version'

export function createAuthorizer(): Authorizer {
  let rights: Rights = { readOnly: true }
  let refused: Decision
  let changing = false
  let trusted = false

  function change(table: string, kind: 'insert' | 'update' | 'delete', column?: string): Decision {
    changing = true
    if (rights.readOnly) return 'This statement would change data, and only reading is allowed here.'
    return mayChange(table, kind, column) ? undefined : refusedChange(table, column)
  }

  function problemOf(action: number, first: string, second: string | null): Decision {
    switch (action) {
      case constants.SQLITE_SELECT:
      case constants.SQLITE_RECURSIVE:
        return undefined
      case constants.SQLITE_READ:
        return refusedRead(first)
      case constants.SQLITE_FUNCTION:
        return isForbiddenFunction(second ?? '') ? refusedFunction(second ?? '') : undefined
      case constants.SQLITE_INSERT:
        return change(first, 'insert')
      case constants.SQLITE_UPDATE:
        return change(first, 'update', second ?? '')
      case constants.SQLITE_DELETE:
        return change(first, 'delete')
      case constants.SQLITE_PRAGMA:
        return refusedPragmaCall(first.toLowerCase(), second)
      default:
        return notAllowed
    }
  }

  return {
    decide(action, first, second) {
      if (trusted) return constants.SQLITE_OK
      const problem = problemOf(action, first ?? '', second)
      refused ??= problem
      return problem === undefined ? constants.SQLITE_OK : constants.SQLITE_DENY
    },
    begin(given) {
      rights = given
      refused = undefined
      changing = false
    },
    refusal: () => refused,
    writes: () => changing,
    trust(work) {
      trusted = true
      try {
        return work()
      } finally {
        trusted = false
      }
    },
  }
}

/** @param tables the result of `OpenedTables.of`. */
export function refusedOpening(tables: readonly (string | undefined)[]): string | undefined {
  if (tables.includes(undefined)) return notAllowed
  return tables.map(table => refusedRead(table ?? '')).find(refusal => refusal !== undefined)
}

function refusedRead(table: string): Decision {
  const pragma = /^pragma_(.*)$/i.exec(table)?.[1]?.toLowerCase()
  if (pragma !== undefined) return isReadOnlyPragma(pragma, null) ? undefined : refusedPragma(pragma)
  return accessTo(table).kind === 'hidden' ? hiddenTable(table) : undefined
}

function refusedPragmaCall(name: string, argument: string | null): Decision {
  if (name === internalPragma && argument === null) return undefined
  if (!isReadOnlyPragma(name, argument)) return refusedPragma(name)
  return argument === null ? undefined : refusedRead(argument)
}

function refusedChange(table: string, column: string | undefined): string {
  const access = accessTo(table)
  if (access.kind === 'hidden') return hiddenTable(table)
  const what = column ? `The column ${column} of ${table}` : `The table ${table}`
  const columns = access.kind === 'readable' ? access.updatable : []
  const instead = columns.length > 0 ? ` Only ${columns.join(', ')} may be updated.` : ''
  return `${what} may be read, but not written here.${instead}`
}

export function hiddenTable(table: string): string {
  return `The table ${table} is the service's own and not accessible here.`
}
