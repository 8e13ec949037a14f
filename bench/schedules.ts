/** Whether schedules run on time, and what those cost that wait. The embedded databases only: it fills their files. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { makeDataDirectory } from './support/data-directory.ts'
import type { Program } from './support/program.ts'
import { call, startService } from './support/service.ts'
import { median, percentile } from './support/statistics.ts'
import { printTable, rounded } from './support/table.ts'

const spread = 200
const together = 1_000
const waiting = 100_000
const restSeconds = 10
const starts = 5
const environment = { OUTBOUND_ALLOW: '127.0.0.1' }

/** Milliseconds from the time of a schedule to the call that it makes, by schedule. */
const late = new Map<string, number[]>()
const receiver = createServer((request, response) => {
  const at = Date.now()
  void text(request).then(body => {
    const { schedule_id, scheduled_for } = JSON.parse(body)
    late.set(schedule_id, [...(late.get(schedule_id) ?? []), at - Date.parse(scheduled_for)])
    response.end()
  })
})
receiver.listen(0, '127.0.0.1')
await once(receiver, 'listening')
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`

const punctual = await timesOf(spread, index => 10_000 + index * 100)
const crowd = await timesOf(together, () => 20_000)
const empty = makeDataDirectory()
const full = makeDataDirectory()
await fill(empty, 0)
await fill(full, waiting)
const [without, withMany] = [await atRest(empty), await atRest(full)]
receiver.close()
printTable('schedules', 'the service without those that wait', [
  {
    what: `${spread} in 20 s: delay at p99`,
    service: `${rounded(median(punctual))} ms at the median`,
    figure: percentile(punctual, 0.99),
    unit: 'ms',
    bar: { most: 1_000 },
  },
  {
    what: `${together} at the same time: calls for each`,
    service: `the last after ${rounded(Math.max(...crowd))} ms`,
    figure: crowd.length / together,
    unit: '×',
    bar: { most: 1 },
  },
  {
    what: `memory with ${waiting} that wait`,
    service: `${rounded(withMany.memory)} MB`,
    reference: `${rounded(without.memory)} MB`,
    figure: withMany.memory - without.memory,
    unit: 'MB',
    bar: { most: 20 },
  },
  {
    what: '  processor time at rest',
    service: `${rounded(withMany.busy)} %`,
    reference: `${rounded(without.busy)} %`,
    figure: withMany.busy,
    unit: '%',
    bar: { most: 1 },
  },
  {
    what: `  a start, median of ${starts}`,
    service: `${rounded(withMany.start)} ms`,
    reference: `${rounded(without.start)} ms`,
    figure: withMany.start / without.start,
    unit: '×',
    bar: { most: 1.2 },
  },
])

function schedule({ address }: Program, fields: object): Promise<{ id: string }> {
  const callback = { name: 'S', callback_type: 'webhook', callback_data: { url } }
  return call(`${address}/api/agents/default/schedules`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...callback, ...fields }),
  })
}

/** How late each of the calls came of schedules that are due so many milliseconds from now. */
async function timesOf(count: number, dueIn: (index: number) => number): Promise<number[]> {
  await using service = await startService({ dataDirectory: makeDataDirectory(), environment })
  const begun = Date.now()
  const ids: string[] = []
  for (let index = 0; index < count; index += 1) {
    const next_run = new Date(begun + dueIn(index)).toISOString()
    ids.push((await schedule(service, { type: 'once', next_run })).id)
  }
  const limit = performance.now() + 120_000
  while (ids.some(id => !late.has(id)) && performance.now() < limit) await delay(100)
  // For calls that come twice.
  await delay(2_000)
  return ids.flatMap(id => late.get(id) ?? [])
}

/** Copies a schedule that waits, and its timer, until there are so many. */
async function fill(dataDirectory: string, count: number): Promise<void> {
  const service = await startService({ dataDirectory, environment })
  await schedule(service, { type: 'delayed', delay_seconds: 30 * 86_400 })
  await service.stop()
  using database = new DatabaseSync(join(dataDirectory, 'agents', 'default', 'agent.db'))
  for (const [table, replaced] of [
    ['schedules', { id: `'copy ' || n` }],
    [
      'outbox',
      { id: `'copy ' || n`, key: `'schedule:copy ' || n`, payload: `'{"id":"copy ' || n || '","at":""}'` },
    ],
  ] as const) {
    const columns = database
      .prepare(`select name from pragma_table_info(?)`)
      .all(table)
      .map(({ name }) => String(name))
    const values = columns.map(name => (replaced as Record<string, string>)[name] ?? `"${name}"`)
    const where = table === 'outbox' ? `where name = 'schedule.run'` : ''
    database.exec(`
      insert into ${table} (${columns.map(name => `"${name}"`).join(', ')})
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})
      select ${values.join(', ')} from numbers, (select * from ${table} ${where} limit 1) where n <= ${count}`)
  }
}

async function atRest(dataDirectory: string) {
  const times: number[] = []
  for (let n = 0; n < starts; n += 1) {
    await using service = await startService({ dataDirectory, environment })
    times.push(service.readyAfter)
  }
  await using service = await startService({ dataDirectory, environment })
  await call(`${service.address}/api/agents/default/schedules?limit=1`)
  await delay(5_000)
  const before = service.processorTime()
  await delay(restSeconds * 1_000)
  const busy = ((service.processorTime() - before) / (restSeconds * 1_000)) * 100
  return { start: median(times), memory: service.residentMemory(), busy }
}
