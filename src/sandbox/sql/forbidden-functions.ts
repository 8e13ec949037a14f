/** Functions that reach beyond the agent's database, or execute text as statements, on either engine. */
const forbidden = new Set([
  // SQLite: code and files. Some of them exist only in its shell.
  'load_extension',
  'fts3_tokenizer',
  'fts5',
  'readfile',
  'writefile',
  'edit',
  'sqlite_log',
  // PostgreSQL: functions whose effect outlives a statement, or is visible to others.
  'set_config',
  'pg_notify',
  'pg_cancel_backend',
  'pg_terminate_backend',
  'pg_export_snapshot',
  'setval',
  'loread',
  'lowrite',
  // PostgreSQL: functions that execute text, in which nothing on this list would be detected.
  'ts_stat',
  'ts_rewrite',
  'crosstab',
  'connectby',
  'xpath_table',
])

/**
 * Advisory locks are reserved for the service; large objects belong to no schema. Their functions are listed
 * because columns can have names like `lo_price`.
 */
const families =
  /^(?:pg_(?:try_)?advisory_|lo_(?:close|creat|export|from_bytea|get|import|lseek|open|put|tell|truncate|unlink)|dblink|(?:query|cursor|table|schema|database)_to_xml|pg_(?:read|ls|stat)_(?:file|binary_file|dir)|pg_ls_|pg_logical_|pg_replication_|pg_create_|pg_drop_|pg_promote|pg_reload_|pg_rotate_|pg_switch_|crosstab)/

export function isForbiddenFunction(name: string): boolean {
  const lower = name.toLowerCase()
  return forbidden.has(lower) || families.test(lower)
}

export function refusedFunction(name: string): string {
  return `The function ${name.toLowerCase()} is not allowed here.`
}
