/**
 * An execution of five nodes by hand: a Fastify without anything whose route runs the statements that the service runs for one,
 * prepared, in the same transactions, and sends the same request. Parameters: the agent's database (a file, or an address), and
 * where requests go.
 */
import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { fastify } from 'fastify'
import pg from 'pg'
import { request } from 'undici'

const [path = '', effects = ''] = process.argv.slice(2)
const at = new Date().toISOString()
const nodes = ['start', 'check', 'send', 'pick', 'last']

type Values = (string | number | null)[]
type Run = (text: string, values: Values) => Promise<unknown>

const workflow =
  'select id, name, description, status, version, concurrency, keep, tool from workflows where id = ?'
const version = 'select nodes, edges, secret_set from workflow_versions where workflow_id = ? and version = ?'
const due =
  'select run_at from outbox where lane = ? and failed_at is null and lease_holder is null order by run_at limit 1'
const resultColumns = 'execution_id, node_id, path, status, attempts, output, started_at, duration_ms'
const record = `insert into node_results (${resultColumns}) select cast(? as text), cast(? as text), '', cast(? as text), 1,
    cast(? as text), cast(? as text), 0 where exists (select 1 from executions where id = ? and attempt = 1)
  on conflict (execution_id, node_id, path) do update set status = excluded.status, output = excluded.output`

await listen(path.startsWith('postgres') ? await openPostgres() : openSqlite())

async function listen(
  transact: <Result>(work: (run: Run) => Promise<Result>, isOne?: boolean) => Promise<Result>,
) {
  const app = fastify()
  app.post('/execute', async () => {
    const id = randomUUID()
    await transact(async run => {
      await run(workflow, ['w'])
      await run(version, ['w', 1])
    })
    await transact(run => start(run, id), true)
    await transact(run => take(run, id))
    for (const [index, node] of nodes.entries()) {
      if (node === 'send') {
        const answer = await request(effects, { method: 'POST', headers: { 'idempotency-key': id } })
        await answer.body.text()
      }
      await transact(async run => {
        await run(record, [id, node, 'complete', '{}', at, id])
        if (index === 0) await run(record, [id, node, 'running', null, at, id])
      })
    }
    await transact(run => end(run, id), true)
    await transact(async run => {
      await run('delete from outbox where id = ? and lease_holder = ?', [id, 'me'])
      await run(due, ['executions'])
    })
    return { execution_id: id, status: 'running', started_at: at }
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  console.log(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
}

async function start(run: Run, id: string): Promise<void> {
  await run(workflow, ['w'])
  await run('select count(*) as count from executions where workflow_id = ? and status = ?', ['w', 'running'])
  await run(
    `insert into executions (id, workflow_id, version, status, attempt, cause, depth, input, options, created_at, started_at)
      values (?, 'w', 1, 'running', 0, '{"kind":"manual"}', 0, '{"a":1}', '{}', ?, ?)`,
    [id, at, at],
  )
  await run(
    `insert into outbox (id, name, lane, key, payload, run_at, attempts, failures, created_at)
      values (?, 'execution.run', 'executions', ?, '{}', ?, 0, 0, ?)`,
    [id, `execution:${id}`, at, at],
  )
}

async function take(run: Run, id: string): Promise<void> {
  await run(due, ['executions'])
  await run('update outbox set lease_holder = ?, lease_expires_at = ?, attempts = 1 where id = ?', [
    'me',
    at,
    id,
  ])
  await run(due, ['executions'])
  await run('update executions set attempt = attempt + 1 where id = ? returning *', [id])
  await run(version, ['w', 1])
  await run(workflow, ['w'])
  await run(`select ${resultColumns} from node_results where execution_id = ?`, [id])
}

async function end(run: Run, id: string): Promise<void> {
  await run(
    "update executions set status = 'complete', output = '{}', completed_at = ? where id = ? and attempt = 1 returning id",
    [at, id],
  )
  await run("select kind, ref from event_subscriptions where event in (?, '*')", ['workflow.complete'])
  await run('select id from executions where workflow_id = ? and status = ? limit 1000', ['w', 'queued'])
}

/** One connection, whose transactions never overlap. */
function openSqlite() {
  const database = new DatabaseSync(path)
  database.exec('pragma journal_mode = wal; pragma synchronous = normal')
  const prepared = new Map<string, ReturnType<DatabaseSync['prepare']>>()
  const run: Run = async (text, values) => {
    const statement = prepared.get(text) ?? database.prepare(text)
    prepared.set(text, statement)
    return statement.all(...values)
  }
  let last: Promise<unknown> = Promise.resolve()
  return <Result>(work: (run: Run) => Promise<Result>, isOne = false): Promise<Result> => {
    const result = last.then(async () => {
      if (isOne) database.exec('begin immediate')
      const done = await work(run)
      if (isOne) database.exec('commit')
      return done
    })
    last = result
    return result
  }
}

async function openPostgres() {
  const pool = new pg.Pool({ connectionString: path, max: 10 })
  return async <Result>(work: (run: Run) => Promise<Result>, isOne = false): Promise<Result> => {
    const client = await pool.connect()
    const run: Run = (text, values) => {
      let place = 0
      return client.query({
        name: text.slice(0, 60),
        text: text.replaceAll('?', () => `$${++place}`),
        values,
      })
    }
    try {
      if (isOne) await client.query('begin')
      const done = await work(run)
      if (isOne) await client.query('commit')
      return done
    } finally {
      client.release()
    }
  }
}
