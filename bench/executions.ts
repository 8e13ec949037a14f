/** What an execution of five nodes costs, against the same statements and request by hand; and what two nodes with code add. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { createLog } from '#platform/logging/log.ts'
import { createOutbound } from '#platform/outbound/outbound.ts'
import { createSandbox } from '#sandbox/javascript/sandbox.ts'
import { edgesOf, nodesOf } from '#test/support/workflows.ts'
import { makeDataDirectory } from './support/data-directory.ts'
import { openAgentDatabases } from './support/database.ts'
import { type Program, startProgram } from './support/program.ts'
import { call, startService } from './support/service.ts'
import { median } from './support/statistics.ts'
import { printTable, rounded } from './support/table.ts'

const executions = 160
const atOnce = 8
const rounds = 3
const code = 'return { sum: 1 + 2 }'
const json = { 'content-type': 'application/json' }

const effects = createServer((_request, response) => response.end('{}')).listen(0, '127.0.0.1')
await once(effects, 'listening')
const url = `http://127.0.0.1:${(effects.address() as AddressInfo).port}/`
const databases = await openAgentDatabases()
const path = await databases.make('bench')
const address = process.env.DATABASE_URL && new URL('agentstead_benchmark', process.env.DATABASE_URL).href
await using bare = await startProgram({ parameters: ['bench/support/bare-executions.ts', path, url] })
await using service = await startService({
  dataDirectory: makeDataDirectory(),
  environment: { OUTBOUND_ALLOW: '127.0.0.1', ...(address && { DATABASE_URL: address }) },
})
const base = `${service.address}/api/agents/default/workflows`
const plain = await createWorkflow({})
const withCode = await createWorkflow({ pick: { type: 'code', code }, last: { type: 'code', code } })
const sandbox = await costOfSandbox()

const costs = { plain: [] as number[], withCode: [] as number[], bare: [] as number[] }
const speeds: number[] = []
await run(plain)
await byHand()
for (let round = 0; round < rounds; round += 1) {
  const begun = performance.now()
  costs.plain.push(await costOf(service, () => run(plain)))
  speeds.push((executions * 1000) / (performance.now() - begun))
  costs.bare.push(await costOf(bare, byHand))
  costs.withCode.push(await costOf(service, () => run(withCode)))
}
print(median(costs.plain), median(costs.bare), median(costs.withCode))
await databases.close()
effects.close()

async function createWorkflow(others: Record<string, { type: string; code: string }>): Promise<string> {
  const exists = [{ left: '{{a}}', operator: 'exists' }]
  const nodes = {
    start: { type: 'trigger' },
    check: { type: 'if-else', conditions: exists },
    send: { type: 'http-request', method: 'POST', url },
    pick: { type: 'if-else', conditions: exists },
    last: { type: 'if-else', conditions: exists },
    ...others,
  }
  const exit = others.pick ? '' : '/true'
  const edges = edgesOf('start > check', 'check/true > send', 'send > pick', `pick${exit} > last`)
  const body = { name: 'W', status: 'active', concurrency: 10_000, nodes: nodesOf(nodes), edges }
  const created = await call<{ id: string }>(base, {
    method: 'POST',
    headers: json,
    body: JSON.stringify(body),
  })
  return created.id
}

/** Executes it so many times, until all have ended. */
async function run(workflow_id: string): Promise<void> {
  const body = JSON.stringify({ workflow_id, input: { a: 1 } })
  await together(() => call(`${base}/execute`, { method: 'POST', headers: json, body }))
  const open = `${base}/executions?workflow_id=${workflow_id}&status=running&limit=1`
  while ((await call<{ executions: unknown[] }>(open)).executions.length > 0) await delay(20)
}

async function byHand(): Promise<void> {
  await together(() => call(`${bare.address}/execute`, { method: 'POST' }))
}

async function together(work: () => Promise<unknown>): Promise<void> {
  const share = Array.from({ length: executions / atOnce })
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const _ of share) await work()
    }),
  )
}

/** Milliseconds of the processor for each execution. */
async function costOf(program: Program, work: () => Promise<void>): Promise<number> {
  const before = program.processorTime()
  await work()
  return (program.processorTime() - before) / executions
}

/** Milliseconds of the processor for a run of the code alone. */
async function costOfSandbox(): Promise<number> {
  const outbound = createOutbound({ allow: [], userAgent: 'benchmark' })
  const bareSandbox = createSandbox({ log: createLog('silent'), fetch: outbound.fetch })
  const times: number[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const before = process.cpuUsage()
    for (let count = 0; count < executions / 4; count += 1)
      await bareSandbox.run({ code, argument: { input: {}, nodes: {} }, owner: 'bench' })
    const { user, system } = process.cpuUsage(before)
    times.push((user + system) / 1000 / (executions / 4))
  }
  await bareSandbox.close()
  await outbound.close()
  return median(times.slice(1))
}

function print(own: number, reference: number, ownCode: number): void {
  printTable('executions', 'a bare Fastify route with the same statements and request', [
    {
      what: 'trigger, http-request, three if-else: processor time',
      service: `${rounded(own)} ms`,
      reference: `${rounded(reference)} ms`,
      figure: own / reference,
      unit: '×',
      bar: { most: 5.4 },
    },
    {
      what: '  executions a second',
      service: rounded(median(speeds)),
      figure: median(speeds),
      unit: '/s',
    },
    {
      what: 'two of them with code: what that adds; a bare run of the sandbox',
      service: `${rounded(ownCode - own)} ms`,
      reference: `${rounded(sandbox)} ms`,
      figure: ownCode - own,
      unit: 'ms',
      bar: { most: 4 },
    },
  ])
}
