/** Requests a second for one row: through the whole service, and from a route that does nothing else. */
import { deepStrictEqual } from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { startGateway } from '#test/support/gateway.ts'
import { makeDataDirectory } from './support/data-directory.ts'
import { type Program, startProgram } from './support/program.ts'
import { type LoadResult, measureLoad, type RepeatedRequest } from './support/request-load.ts'
import { call, startService, untilReady, uploadText } from './support/service.ts'
import { median } from './support/statistics.ts'
import { printTable, type Row, rounded } from './support/table.ts'

const connections = 32
const rounds = 3
const roundMs = 3000
const warmUpMs = 2000

interface Contestant extends RepeatedRequest {
  program: Program
  loads: LoadResult[]
  /** Microseconds of processor time that each request cost its server. */
  costs: number[]
}

const dataDirectory = makeDataDirectory()
const gateway = await startGateway()
try {
  await compare()
} finally {
  await gateway.close()
}

async function compare(): Promise<void> {
  const sourceId = await prepare()
  await using service = await startService({ dataDirectory, environment: gateway.environment })
  const copy = join(dataDirectory, 'copy.db')
  copyFileSync(join(dataDirectory, 'agents/default/agent.db'), copy)
  await using bare = await startProgram({ parameters: ['bench/support/bare-route.ts', copy] })
  const path = `${service.address}/api/agents/default/sources/${sourceId}`
  const anonymous = contestant(service, path, {})
  const named = contestant(service, path, await gateway.headers('reader@example.test'))
  const keyed = contestant(service, path, await makeKey(service.address))
  const reference = contestant(bare, `${bare.address}/sources/${sourceId}`, {})
  const contestants = [reference, anonymous, named, keyed]
  await requireEqualAnswers(contestants)
  for (const one of contestants) await measureLoad(one, { connections, milliseconds: warmUpMs })
  for (let round = 0; round < rounds; round += 1) for (const one of contestants) await measure(one)
  print(reference, { anonymous, named, keyed })
}

async function makeKey(address: string): Promise<Record<string, string>> {
  const headers = { ...(await gateway.headers('reader@example.test')), 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'bench' })
  const answer = await fetch(`${address}/api/auth/keys`, { method: 'POST', headers, body })
  const { key } = (await answer.json()) as { key: string }
  return { authorization: `Bearer ${key}` }
}

/** A source that is processed, in a database that no log stands beside. */
async function prepare(): Promise<string> {
  await using service = await startService({ dataDirectory })
  const sourceId = await uploadText(service, 'notes', 'A short text about nothing much.')
  await untilReady(service, sourceId)
  return sourceId
}

function contestant(program: Program, address: string, headers: Record<string, string>): Contestant {
  return { program, address, headers, loads: [], costs: [] }
}

async function requireEqualAnswers(contestants: readonly Contestant[]): Promise<void> {
  const answers = await Promise.all(
    contestants.map(({ address, headers = {} }) => call(address, { headers })),
  )
  for (const answer of answers) deepStrictEqual(answer, answers[0])
}

async function measure(one: Contestant): Promise<void> {
  const before = one.program.processorTime()
  const load = await measureLoad(one, { connections, milliseconds: roundMs })
  one.loads.push(load)
  const requests = (load.perSecond * roundMs) / 1000
  one.costs.push(((one.program.processorTime() - before) * 1000) / requests)
}

/** By requests a second, and by processor time, which other work on the machine disturbs less. */
function rowsOf(what: string, one: Contestant, reference: Contestant): Row[] {
  const bar = { least: 0.5 }
  const [speed, speedOfReference] = [speedOf(one), speedOf(reference)]
  const [cost, costOfReference] = [median(one.costs), median(reference.costs)]
  return [
    {
      what: `${what}: requests a second`,
      service: rounded(speed),
      reference: rounded(speedOfReference),
      figure: speed / speedOfReference,
      unit: '×',
      bar,
    },
    {
      what: '  as many as its processor time allows',
      service: `${rounded(cost)} µs`,
      reference: `${rounded(costOfReference)} µs`,
      figure: costOfReference / cost,
      unit: '×',
      bar,
    },
  ]
}

type Named = Record<'anonymous' | 'named' | 'keyed', Contestant>

function print(reference: Contestant, { anonymous, named, keyed }: Named): void {
  printTable('one row', 'a bare Fastify route with the same row', [
    ...rowsOf('GET, anonymous', anonymous, reference),
    ...rowsOf('GET, with a verified token', named, reference),
    ...rowsOf('GET, with an API key', keyed, reference),
    {
      what: '  processor time that the key adds',
      service: `${rounded(median(keyed.costs))} µs`,
      reference: `${rounded(median(anonymous.costs))} µs`,
      figure: median(keyed.costs) / median(anonymous.costs),
      unit: '×',
      bar: { most: 1.15 },
    },
  ])
  const contestants = [reference, anonymous, named, keyed]
  const sender = Math.max(...contestants.flatMap(({ loads }) => loads.map(load => load.busy)))
  const servers = Math.min(...contestants.map(one => (speedOf(one) * median(one.costs)) / 1e6))
  console.log(
    `  busy: each server at least ${percent(servers)}, the sender at most ${percent(sender)} of the time`,
  )
}

function speedOf({ loads }: Contestant): number {
  return median(loads.map(load => load.perSecond))
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`
}
