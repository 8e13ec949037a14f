/** How long executions of random graphs, and of hostile ones, keep the event loop from everything else. */
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { readConfiguration } from '#configuration/configuration.ts'
import { systemClock } from '#platform/clock.ts'
import { randomIds } from '#platform/ids.ts'
import { createLog } from '#platform/logging/log.ts'
import { createWorkerPool } from '#platform/workers/worker-pool.ts'
import { hostileGraphs } from '#test/support/hostile/graphs.ts'
import { seededRandom } from '#test/support/random.ts'
import { buildService } from '../src/app.ts'
import { makeDataDirectory } from './support/data-directory.ts'
import { randomGraph } from './support/random-graphs.ts'
import { printTable, rounded } from './support/table.ts'

/** How many executions; 1,000 unless given as a parameter. */
const executions = Number(process.argv[2] ?? 1_000)
const maxSliceMs = 20
const base = '/api/agents/default/workflows'

const result = readConfiguration({
  DATA_DIR: makeDataDirectory(),
  LOG_LEVEL: 'warn',
  RATE_LIMIT_GENERAL: '0',
})
if ('problems' in result) throw new Error(result.problems.join('\n'))
const log = createLog(result.configuration.logLevel)
const service = await buildService(result.configuration, {
  clock: systemClock,
  ids: randomIds,
  log,
  createWorkerPool,
})

interface Slices {
  longest: number
  /** How many took more than the bar. */
  long: number
  turns: number
}

const random = seededRandom(35)
await run(randomGraph(random))
const begun = performance.now()
const all: Slices = { longest: 0, long: 0, turns: 0 }
for (let count = 0; count < executions; count += 1) {
  const slices = await slicesDuring(run(randomGraph(random)))
  all.longest = Math.max(all.longest, slices.longest)
  all.long += slices.long
  all.turns += slices.turns
}
const seconds = (performance.now() - begun) / 1000
const hostile: [string, Slices][] = []
for (const graph of hostileGraphs()) hostile.push([graph.name, await slicesDuring(run(graph))])
await service.close()

printTable('graphs', 'none', [
  {
    what: `longest slice in ${executions} executions of random graphs`,
    service: `${all.long} of ${all.turns} turns over ${maxSliceMs} ms`,
    figure: all.longest,
    unit: 'ms',
    bar: { most: maxSliceMs },
  },
  { what: '  executions a second', service: '', figure: executions / seconds, unit: '/s' },
  ...hostile.map(([name, { longest, long }]) => ({
    what: `longest slice: ${name}`,
    service: `${rounded(long)} over ${maxSliceMs} ms`,
    figure: longest,
    unit: 'ms' as const,
  })),
])

/** Creates and executes it, and reads the execution once it has ended. */
async function run({ workflow, input }: { workflow: object; input: object }): Promise<void> {
  const { id } = await call<{ id: string }>('POST', base, workflow)
  const { execution_id } = await call<{ execution_id: string }>('POST', `${base}/execute`, {
    workflow_id: id,
    input,
  })
  const open = `${base}/executions?workflow_id=${id}&status=running&limit=1`
  while ((await call<{ executions: unknown[] }>('GET', open)).executions.length > 0) await delay(5)
  await service.app.inject({ method: 'GET', url: `${base}/executions/${execution_id}` })
}

async function call<Body>(method: 'GET' | 'POST', url: string, payload?: object): Promise<Body> {
  const answer = await service.app.inject({ method, url, ...(payload && { payload }) })
  if (answer.statusCode >= 300)
    throw new Error(`${url} answered ${answer.statusCode}: ${answer.body.slice(0, 500)}`)
  return JSON.parse(answer.body) as Body
}

/** By the processor time of this thread from one turn of the event loop to the next, which other programs do not lengthen. */
async function slicesDuring(work: Promise<void>): Promise<Slices> {
  const slices: Slices = { longest: 0, long: 0, turns: 0 }
  let isDone = false
  const end = work.finally(() => {
    isDone = true
  })
  while (!isDone) {
    const before = process.threadCpuUsage()
    await nextTurn()
    const { user, system } = process.threadCpuUsage(before)
    const slice = (user + system) / 1000
    slices.longest = Math.max(slices.longest, slice)
    if (slice > maxSliceMs) slices.long += 1
    slices.turns += 1
  }
  await end
  return slices
}
