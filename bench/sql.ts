/** What a statement costs where it can be killed, and whether the service answers others while one is. */

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { makeDataDirectory } from './support/data-directory.ts'
import { type Program, startProgram } from './support/program.ts'
import { measureLoad } from './support/request-load.ts'
import { call, startService } from './support/service.ts'
import { median, percentile } from './support/statistics.ts'
import { printTable, type Row, rounded } from './support/table.ts'

const connections = 32
const rounds = 3
const roundMs = 2_500
const askEveryMs = 10
const runaways = 3

const endless = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n'
const statements = {
  'a row by its key': { query: 'SELECT id, title FROM conversations WHERE id = ?', params: ['7'] },
  'a constant': { query: 'SELECT 1', params: [] },
}

const dataDirectory = makeDataDirectory()
if (process.env.DATABASE_URL === undefined) await compare()
else console.log('\nsql was left out: it compares with SQLite in the process that is asked')

async function compare(): Promise<void> {
  await prepare()
  await using service = await startService({ dataDirectory })
  await using bare = await startProgram({
    parameters: ['bench/support/bare-sql-route.ts', join(dataDirectory, 'agents/default/agent.db')],
  })
  const rows: Row[] = []
  for (const [what, statement] of Object.entries(statements))
    rows.push(...(await compareOn(what, JSON.stringify(statement), service, bare)))
  printTable('sql', 'a bare Fastify route that runs the statement in its own process', [
    ...rows,
    ...(await measureRunaways(service)),
  ])
}

/** Rows to ask for, in a database that the service has made. */
async function prepare(): Promise<void> {
  const service = await startService({ dataDirectory })
  await call(`${service.address}/api/agents/default/sql/schema`)
  await service.stop()
  const database = new DatabaseSync(join(dataDirectory, 'agents/default/agent.db'))
  database.exec(`with recursive n (i) as (select 1 union all select i + 1 from n where i < 40)
    insert into conversations (id, title, message_count, created_at, lock_token) select i, 'title ' || i, 0, '', 0 from n`)
  database.close()
}

async function compareOn(what: string, body: string, service: Program, bare: Program): Promise<Row[]> {
  const address = `${service.address}/api/agents/default/sql/execute`
  const contestants = [
    { program: service, request: { address, body }, speeds: [] as number[], costs: [] as number[] },
    {
      program: bare,
      request: { address: `${bare.address}/execute`, body },
      speeds: [] as number[],
      costs: [] as number[],
    },
  ]
  for (const { request } of contestants) await measureLoad(request, { connections, milliseconds: 1_500 })
  for (let round = 0; round < rounds; round += 1)
    for (const { program, request, speeds, costs } of contestants) {
      const before = program.processorTime()
      const { perSecond } = await measureLoad(request, { connections, milliseconds: roundMs })
      speeds.push(perSecond)
      costs.push(((program.processorTime() - before) * 1000) / ((perSecond * roundMs) / 1000))
    }
  const [own, reference] = contestants.map(({ speeds, costs }) => ({
    speed: median(speeds),
    cost: median(costs),
  }))
  if (own === undefined || reference === undefined) throw new Error('nothing was measured')
  return [
    {
      what: `${what}: statements a second`,
      service: rounded(own.speed),
      reference: rounded(reference.speed),
      figure: own.speed,
      unit: '/s',
      bar: { least: 2_000 },
    },
    {
      what: '  processor time of the process that is asked',
      service: `${rounded(own.cost)} µs`,
      reference: `${rounded(reference.cost)} µs`,
      figure: reference.cost / own.cost,
      unit: '×',
    },
  ]
}

async function measureRunaways(service: Program): Promise<Row[]> {
  const idle = await measureHealth(service, delay(3_000))
  const body = JSON.stringify({ query: endless })
  const headers = { 'content-type': 'application/json' }
  const times: number[] = []
  const busy: number[] = []
  for (let count = 0; count < runaways; count += 1) {
    const begun = performance.now()
    const stopped = fetch(`${service.address}/api/agents/default/sql/execute`, {
      method: 'POST',
      headers,
      body,
    })
    busy.push(...(await measureHealth(service, stopped)))
    await (await stopped).text()
    times.push((performance.now() - begun) / 1000)
  }
  const p99 = percentile(busy, 0.99)
  return [
    {
      what: `a statement without end, until it is stopped, slowest of ${runaways}`,
      service: `${rounded(Math.max(...times))} s`,
      figure: Math.max(...times),
      unit: 's',
      bar: { most: 6 },
    },
    {
      what: `GET /healthz meanwhile, p99 of ${busy.length}`,
      service: `${rounded(p99)} ms`,
      reference: `${rounded(percentile(idle, 0.99))} ms at rest`,
      figure: p99,
      unit: 'ms',
      bar: { most: 50 },
    },
  ]
}

/** Milliseconds that each of the requests took that were due while something goes on, those that had to wait included. */
async function measureHealth({ address }: Program, work: Promise<unknown>): Promise<number[]> {
  let isOver = false
  const end = () => {
    isOver = true
  }
  work.then(end, end)
  const answers: Promise<number>[] = []
  const begun = performance.now()
  while (!isOver) {
    const due = begun + answers.length * askEveryMs
    await delay(Math.max(0, due - performance.now()))
    answers.push(call(`${address}/healthz`).then(() => performance.now() - due))
  }
  return Promise.all(answers)
}
