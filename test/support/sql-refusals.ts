/** Statements that must not do what they try, each with the status of its answer: of every engine, or of each. */

export interface Refusal {
  query: string
  params?: unknown[]
  /** 403 if not told. */
  status?: number | { sqlite: number; postgres: number }
}

const forbidden = (queries: string): Refusal[] =>
  queries
    .trim()
    .split('\n')
    .map(query => ({ query: query.trim() }))

/** Kinds of statements, however they are written. */
const kinds = forbidden(`
  CREATE TABLE stolen (a integer)
  CREATE TABLE stolen AS SELECT * FROM fruits
  CREATE TEMP TABLE stolen (a integer)
  CREATE INDEX slow ON fruits (name)
  CREATE VIEW everything AS SELECT * FROM fruits
  CREATE TRIGGER later AFTER INSERT ON fruits BEGIN DELETE FROM fruits; END
  CREATE VIRTUAL TABLE stolen USING fts5(a)
  CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, chunk_text, row)
  CREATE FUNCTION f() RETURNS integer LANGUAGE sql AS 'select 1'
  CREATE EXTENSION dblink
  CREATE ROLE me SUPERUSER LOGIN
  DROP TABLE fruits
  DROP SCHEMA agent_default CASCADE
  ALTER TABLE fruits RENAME TO vegetables
  ALTER ROLE CURRENT_USER SUPERUSER
  TRUNCATE fruits
  ATTACH DATABASE '../../platform.db' AS platform
  ATTACH ':memory:' AS other
  DETACH main
  VACUUM
  VACUUM INTO '/tmp/stolen.db'
  REINDEX
  ANALYZE
  BEGIN
  BEGIN IMMEDIATE
  START TRANSACTION
  COMMIT
  END
  ROLLBACK
  SAVEPOINT here
  RELEASE here
  COPY fruits TO '/tmp/fruits'
  COPY fruits FROM PROGRAM 'id'
  SET ROLE postgres
  SET search_path TO agentstead
  RESET ALL
  SHOW data_directory
  DO $$ BEGIN PERFORM pg_sleep(1); END $$
  CALL something()
  GRANT ALL ON fruits TO PUBLIC
  REVOKE ALL ON fruits FROM PUBLIC
  LISTEN jobs
  NOTIFY jobs
  LOCK TABLE fruits
  PREPARE p AS SELECT 1
  EXECUTE p
  DECLARE c CURSOR FOR SELECT 1
  MERGE INTO fruits USING fruits AS f ON false WHEN NOT MATCHED THEN DO NOTHING
  TABLE outbox
  COMMENT ON TABLE fruits IS 'mine'
  LOAD 'evil'
  dRoP tAbLe fruits
  /* SELECT */ DROP TABLE fruits
  ; ; DROP TABLE fruits
  DROP TABLE fruits; SELECT 1
`)

/** A comment that begins a line hides its end only. */
const hidden: Refusal[] = [
  { query: '-- SELECT 1\nDROP TABLE fruits' },
  { query: '\tDROP\nTABLE\rfruits' },
  { query: 'DROP/**/TABLE/**/fruits' },
]

const pragmas = forbidden(`
  PRAGMA writable_schema = ON
  PRAGMA main.writable_schema = 1
  PRAGMA journal_mode = DELETE
  PRAGMA foreign_keys = 0
  PRAGMA foreign_keys(0)
  PRAGMA user_version = 7
  PRAGMA page_size = 512
  PRAGMA incremental_vacuum
  PRAGMA wal_checkpoint(TRUNCATE)
  PRAGMA trusted_schema = 1
  PRAGMA cell_size_check = 0
  PRAGMA hard_heap_limit = 1
  PRAGMA temp_store_directory = '/tmp'
  PRAGMA database_list
  PRAGMA integrity_check
  PRAGMA optimize
  PRAGMA shrink_memory
  PRAGMA no_such_pragma
  PRAGMA table_info(outbox)
  PRAGMA table_xinfo('agent_facts')
  PRAGMA index_list(chunk_generations)
`)

const internalTables = forbidden(`
  SELECT * FROM outbox
  SELECT count(*) FROM outbox
  SELECT 1 FROM agent_facts
  SELECT * FROM file_parts
  SELECT * FROM chunk_generations
  SELECT * FROM chunk_text
  SELECT name FROM kysely_migration
  SELECT * FROM kysely_migration_lock
  SELECT * FROM "outbox"
  SELECT name FROM fruits WHERE EXISTS (SELECT 1 FROM outbox)
  SELECT name FROM fruits UNION ALL SELECT value FROM agent_facts
  WITH stolen AS (SELECT payload FROM outbox) SELECT * FROM stolen
  INSERT INTO fruits (id, name) SELECT 99, payload FROM outbox
  EXPLAIN SELECT * FROM outbox
  INSERT INTO agent_facts (name, value) VALUES ('a', 'b')
  UPDATE outbox SET payload = '{}'
  DELETE FROM chunk_generations
  DELETE FROM kysely_migration
`)

/** Tables of which every column that is used has its counterpart: SQLite's authorizer is not asked about these. */
const matchedTables = forbidden(`
  SELECT name FROM fruits FULL JOIN agent_facts USING (name)
  SELECT name, payload FROM (SELECT '' AS name, '' AS payload) FULL JOIN outbox USING (name, payload)
  SELECT payload FROM (SELECT '' AS payload) AS a NATURAL FULL JOIN (SELECT payload FROM outbox NATURAL FULL JOIN (SELECT '' AS payload))
  SELECT name FROM tools RIGHT JOIN kysely_migration USING (name)
  SELECT id FROM tools FULL JOIN kysely_migration_lock USING (id)
  SELECT url, depth FROM (SELECT '' AS url, 0 AS depth) FULL JOIN crawl_queue USING (url, depth)
  SELECT secret_set FROM tools FULL JOIN tool_credentials USING (secret_set)
  SELECT name FROM fruits NATURAL JOIN tool_credentials
  SELECT draft FROM (SELECT '' AS draft) FULL JOIN chunk_generations USING (draft)
  WITH stolen AS (SELECT name FROM fruits FULL JOIN agent_facts USING (name)) SELECT * FROM stolen
  SELECT 1 FROM fruits WHERE EXISTS (SELECT name FROM fruits AS f FULL JOIN agent_facts USING (name))
  INSERT INTO fruits (id, name) SELECT 99, name FROM fruits FULL JOIN agent_facts USING (name)
  INSERT INTO fruits (id, name) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET name = (SELECT max(name) FROM fruits AS f FULL JOIN agent_facts USING (name))
  UPDATE fruits SET name = name RETURNING (SELECT max(name) FROM fruits AS f FULL JOIN agent_facts USING (name))
  DELETE FROM fruits WHERE name IN (SELECT name FROM fruits AS f FULL JOIN agent_facts USING (name))
  EXPLAIN SELECT name FROM fruits FULL JOIN agent_facts USING (name)
  EXPLAIN QUERY PLAN SELECT name FROM fruits FULL JOIN agent_facts USING (name)
  ; /* ; */ EXPLAIN SELECT name FROM fruits FULL JOIN agent_facts USING (name)
`)

/** Likewise, of tables and in ways that only SQLite has. */
const matchedInternals: Refusal[] = `
  WITH RECURSIVE stolen (name) AS (SELECT '' UNION SELECT name FROM stolen FULL JOIN agent_facts USING (name)) SELECT name FROM stolen
  SELECT name FROM fruits FULL JOIN sqlite_temp_master USING (name)
  SELECT name, sql FROM sqlite_master FULL JOIN sqlite_temp_schema USING (name, sql)
  SELECT name FROM fruits FULL JOIN dbstat USING (name)
  SELECT name, payload FROM (SELECT '' AS name, 0 AS payload) NATURAL FULL JOIN dbstat
  SELECT name FROM fruits FULL JOIN sqlite_sequence USING (name)
  SELECT name FROM fruits FULL JOIN pragma_database_list USING (name)
  INSERT INTO fruits (id, name) SELECT 99, name FROM fruits FULL JOIN sqlite_sequence USING (name)
  INSERT INTO numbered (name) SELECT name FROM fruits FULL JOIN sqlite_sequence USING (name)
  SELECT name FROM facts_view
  WITH seen AS (SELECT name FROM facts_view) SELECT name FROM seen FULL JOIN fruits USING (name)
  INSERT INTO baskets (name) VALUES ('small')
  UPDATE baskets SET name = 'small'
  SELECT 1 FROM (SELECT '' AS terms) FULL JOIN chunk_text USING (terms)
  SELECT id FROM fruits FULL JOIN chunk_text_data USING (id)
  SELECT id FROM fruits NATURAL JOIN chunk_text_docsize
`
  .trim()
  .split('\n')
  .map(query => ({ query: query.trim(), status: { sqlite: 403, postgres: 400 } }))

/** What decides about rights, follows from other tables or belongs to the protocol of the lock. */
const guardedTables = forbidden(`
  INSERT INTO sources (id, type, name, status, progress, config, created_at, updated_at) VALUES ('s', 'file', 's', 'ready', 1, '{}', '', '')
  UPDATE sources SET status = 'ready'
  DELETE FROM sources
  UPDATE chunks SET content = ''
  DELETE FROM chunks WHERE 1 = 2
  WITH doomed AS (SELECT id FROM chunks) DELETE FROM chunks WHERE id IN (SELECT id FROM doomed)
  INSERT INTO conversations (id, title, message_count, created_at, lock_token) VALUES ('c', 'c', 0, '', 0)
  DELETE FROM conversations
  UPDATE conversations SET lock_holder = NULL
  UPDATE conversations SET lock_token = 0
  UPDATE conversations SET title = 'x', lock_expires_at = NULL
  UPDATE conversations SET message_count = 7
  DELETE FROM messages
  UPDATE messages SET role = 'system'
  UPDATE messages SET conversation_id = 'other'
  INSERT INTO messages (id, conversation_id, role, content, created_at) VALUES ('m', 'c', 'user', '', '')
`)

const functions = forbidden(`
  SELECT load_extension('/tmp/evil.so')
  SELECT LOAD_EXTENSION ('/tmp/evil.so', 'init')
  SELECT writefile('/tmp/x', 'y')
  SELECT readfile('/etc/passwd')
  SELECT fts3_tokenizer('simple')
  SELECT pg_read_file('/etc/passwd')
  SELECT pg_ls_dir('/')
  SELECT lo_import('/etc/passwd')
  SELECT lo_create(0)
  SELECT set_config('role', 'postgres', true)
  SELECT set_config('statement_timeout', '0', false)
  SELECT pg_advisory_lock(7263410985512463)
  SELECT "pg_advisory_lock" /* here */ (7263410985512463)
  SELECT pg_catalog.pg_try_advisory_lock_shared(1)
  SELECT pg_terminate_backend(1)
  SELECT pg_notify('jobs', 'x')
  SELECT query_to_xml('select pg_advisory_lock(1)', true, true, '')
  SELECT * FROM ts_stat('select pg_advisory_lock(1)')
  SELECT dblink('host=127.0.0.1', 'select 1')
`)

const mistakes: Refusal[] = [
  ...[
    'SELECT 1; DROP TABLE fruits',
    'SELECT 1; SELECT 2',
    'PRAGMA user_version; DROP TABLE fruits',
    "INSERT INTO fruits (id, name) VALUES (70, 'x'); DELETE FROM fruits",
    "SELECT '/*'; DROP TABLE fruits --*/'",
    'SELECT 1 /* ; */ ; -- nothing\n DELETE FROM fruits',
    'EXPLAIN PRAGMA user_version',
    'EXPLAIN EXPLAIN SELECT 1',
    'EXPLAIN DROP TABLE fruits',
    'EXPLAIN ANALYZE CREATE TABLE stolen AS SELECT 1 AS a',
    'EXPLAIN (ANALYZE) REFRESH MATERIALIZED VIEW fruits',
    'EXPLAIN VACUUM',
    `SELECT ${'('.repeat(300)}1${')'.repeat(300)}`,
    'UPDATE no_such_table SET a = 1',
    'SELECT \u{1f352}',
  ].map(query => ({ query, status: 400 })),
  { query: 'UPDATE sqlite_master SET sql = NULL', status: { sqlite: 403, postgres: 400 } },
  { query: 'DELETE FROM sqlite_schema', status: { sqlite: 403, postgres: 400 } },
  { query: 'SELECT * FROM sqlite_sequence', status: { sqlite: 403, postgres: 400 } },
  { query: 'SELECT * FROM chunk_text_data', status: { sqlite: 403, postgres: 400 } },
  { query: "INSERT INTO chunk_text (chunk_text) VALUES ('rebuild')", status: { sqlite: 403, postgres: 400 } },
  { query: "SELECT * FROM chunk_text WHERE chunk_text MATCH 'a'", status: { sqlite: 403, postgres: 400 } },
  { query: 'SELECT * FROM chunk_text_lists', status: { sqlite: 400, postgres: 403 } },
  { query: 'DELETE FROM chunk_text_lists', status: { sqlite: 400, postgres: 403 } },
  { query: 'SELECT * FROM dbstat', status: { sqlite: 403, postgres: 400 } },
  { query: 'SELECT * FROM pragma_database_list', status: { sqlite: 403, postgres: 400 } },
  { query: "SELECT * FROM pragma_table_info('outbox')", status: { sqlite: 403, postgres: 400 } },
  { query: "REPLACE INTO sources (id) VALUES ('s')", status: { sqlite: 403, postgres: 400 } },
  { query: 'SELECT 1 INTO stolen', status: { sqlite: 400, postgres: 403 } },
  { query: 'SELECT 1 AS replace INTO TEMP stolen', status: { sqlite: 400, postgres: 403 } },
  { query: 'SELECT * FROM agentstead.agents', status: { sqlite: 400, postgres: 403 } },
  { query: 'SELECT * FROM pg_authid', status: { sqlite: 400, postgres: 403 } },
  { query: "SELECT E'a'\n'\\'' , pg_advisory_lock(1) , ''", status: 400 },
  { query: `SELECT U&"pg_advisory_l\\006fck"(1)`, status: { sqlite: 403, postgres: 400 } },
  // A function of one argument, written like a field of it.
  ...[
    'SELECT (1).pg_advisory_lock',
    'SELECT ( 1 ) . /* here */ "pg_try_advisory_lock"',
    'SELECT (ARRAY[1])[1].pg_advisory_xact_lock',
    'SELECT n.pg_advisory_lock_shared FROM generate_series(1, 2) AS n',
    "SELECT ('SELECT to_tsvector(pg_try_advisory_lock(1)::text)'::text).ts_stat",
    'SELECT (-1).lo_creat',
  ].map(query => ({ query, status: { sqlite: 400, postgres: 403 } })),
  { query: 'SELECT ?.pg_advisory_lock', params: [1], status: { sqlite: 400, postgres: 403 } },
  { query: 'SELECT $$a$$ FROM outbox', status: { sqlite: 400, postgres: 403 } },
]

/** What would take too much of something, and is stopped at once by a limit. */
const bombs: Refusal[] = [
  { query: 'SELECT hex(randomblob(500000000))', status: { sqlite: 500, postgres: 400 } },
  { query: 'SELECT zeroblob(1000000000)', status: { sqlite: 500, postgres: 400 } },
  { query: "SELECT printf('%.*c', 500000000, 'x')", status: { sqlite: 500, postgres: 400 } },
  { query: "SELECT repeat('x', 100000000)", status: { sqlite: 400, postgres: 500 } },
  {
    query:
      "SELECT replace(replace(printf('%.*c', 9000, 'x'), 'x', 'yyyyyyyyyyyyyyyy'), 'y', printf('%.*c', 1000, 'z'))",
    status: { sqlite: 500, postgres: 400 },
  },
  { query: `SELECT 'a' LIKE '${'%a'.repeat(5000)}b'`, status: { sqlite: 500, postgres: 200 } },
  { query: `SELECT 'a' GLOB '${'*a'.repeat(5000)}b'`, status: { sqlite: 500, postgres: 400 } },
  { query: `SELECT 1 ${'UNION ALL SELECT 1 '.repeat(100)}`, status: { sqlite: 400, postgres: 200 } },
  { query: `SELECT ${Array(600).fill('1').join(',')}`, status: { sqlite: 400, postgres: 200 } },
  { query: `SELECT 1${'+1'.repeat(5000)}`, status: 400 },
  { query: `SELECT ${'-'.repeat(1)}${'- '.repeat(5000)}1`, status: { sqlite: 400, postgres: 200 } },
  { query: `SELECT ${'1, '.repeat(15_000)}1`, status: 400 },
  { query: `SELECT ${'['.repeat(90_000)}`, status: 400 },
  { query: `SELECT '${'x'.repeat(100_001)}'`, status: 400 },
]

export const refusals: Refusal[] = [
  ...kinds,
  ...hidden,
  ...pragmas,
  ...internalTables,
  ...matchedTables,
  ...matchedInternals,
  ...guardedTables,
  ...functions,
  ...mistakes,
  ...bombs,
]
