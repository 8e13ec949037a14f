/** Runs a statement without end on the database file of its first argument, until it is killed; prints when it has begun. */
import { createPool } from '../../../src/sandbox/sql/sqlite/pool.ts'

const path = process.argv[2] ?? ''
const pool = createPool({ synchronous: 'normal', limit: 600_000 })
const run = (query: string) =>
  pool.run(path, { query, parameters: [], readOnly: false, writes: true, maxRows: 1 }, [])
await run('select 1')
void run(
  'with recursive n (i) as (select 1 union all select i + 1 from n) insert into numbers select i from n',
)
process.stdout.write(`${process.pid}\n`)
setInterval(() => {}, 60_000)
