/** Migrates the agent database of its first argument, and stops dead after as many statements as the second says. */
import { writeSync } from 'node:fs'
import { Kysely } from 'kysely'
import { migrate } from '#storage/migrate.ts'
import { createSqliteDialect } from '#storage/sqlite/connections/dialect.ts'
import { openDatabase } from '#storage/sqlite/connections/open.ts'
import { schemaParts } from '#storage/sqlite/schema-parts.ts'
import { type AgentTables, agentTables, migrationsOf } from '#storage/tables.ts'

const [path = '', freezeAfter = ''] = process.argv.slice(2)
let statements = 0

const database = openDatabase(path, { synchronous: 'normal' })
const db = new Kysely<AgentTables>({
  dialect: createSqliteDialect({ database }),
  log: () => {
    statements += 1
    if (statements < Number(freezeAfter)) return
    // What is not committed is forced out of the cache into the file, as in a large migration.
    database.exec('pragma cache_spill = 1; pragma shrink_memory')
    writeSync(1, `frozen in transaction: ${database.isTransaction}\n`)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  },
})
await migrate(db, migrationsOf(agentTables, schemaParts))
writeSync(1, `statements: ${statements}\n`)
