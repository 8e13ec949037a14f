/** The PRAGMAs that only read; all others are refused. */

/** PRAGMAs about a table or an index, which the argument names. */
const describing = ['table_info', 'table_xinfo', 'index_list', 'index_info', 'foreign_key_list'] as const
/** PRAGMAs about the database; an argument would be a value to set. */
const reporting = [
  'collation_list',
  'encoding',
  'foreign_keys',
  'page_count',
  'page_size',
  'table_list',
  'user_version',
] as const

export type DescribingPragma = (typeof describing)[number]
export type ReportingPragma = (typeof reporting)[number]

export function isDescribing(name: string): name is DescribingPragma {
  return describing.some(known => known === name)
}

export function isReporting(name: string): name is ReportingPragma {
  return reporting.some(known => known === name)
}

/** Returns true if this PRAGMA, with this argument or none, only reads. */
export function isReadOnlyPragma(name: string, argument: string | null): boolean {
  return isDescribing(name) || (isReporting(name) && argument === null)
}

export function refusedPragma(name: string): string {
  const allowed = [...describing, ...reporting].join(', ')
  return `PRAGMA ${name} is not allowed here, or not with a value. Allowed are ${allowed}.`
}
