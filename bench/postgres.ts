/**
 * The service on PostgreSQL: requests a second for one row against a route that does nothing but run the same statements,
 * two processes against one, and what two thousand agents in one database cost.
 */
import { startPostgres } from '#test/support/postgres/server.ts'
import { makeDataDirectory } from './support/data-directory.ts'
import { type Program, startProgram } from './support/program.ts'
import { measureLoad, type RepeatedRequest } from './support/request-load.ts'
import { call, startService } from './support/service.ts'
import { median } from './support/statistics.ts'
import { printTable, rounded } from './support/table.ts'

const email = 'bench@localhost.test'
const connections = 32
const rounds = 3
const load = { connections, milliseconds: 3000 }
const manyAgents = 2000
/** Agents whose creation is timed from the 20th on and at the end, since one alone says little. */
const sample = 11

const server = await startPostgres()
try {
  const dataDirectory = makeDataDirectory()
  const start = () =>
    startService({ dataDirectory, environment: { DATABASE_URL: server.url, DEV_USER: email } })
  await using service = await start()
  await compareReads(service, start)
  await addAgents(service)
} finally {
  await server.stop()
}

async function compareReads(service: Program, start: () => Promise<Program>): Promise<void> {
  const { agentId, sourceId } = await prepare(service)
  await using bare = await startProgram({
    parameters: ['bench/support/bare-postgres-route.ts', server.url, agentId, email],
  })
  const readOf = ({ address }: Program) => ({
    address: `${address}/api/agents/${agentId}/sources/${sourceId}`,
  })
  const reference = { address: `${bare.address}/sources/${sourceId}` }
  const alone = await speedsOf([[readOf(service)], [reference]])
  await using second = await start()
  const shared = await speedsOf([[readOf(service)], [readOf(service), readOf(second)]])
  printTable('one row from PostgreSQL', 'a bare Fastify route with the same statements', [
    {
      what: 'GET: requests a second',
      service: rounded(alone[0] ?? 0),
      reference: rounded(alone[1] ?? 0),
      figure: (alone[0] ?? 0) / (alone[1] ?? 0),
      unit: '×',
      bar: { least: 0.5 },
    },
  ])
  printTable('two processes on one database', 'one process', [
    {
      what: 'GET: requests a second',
      service: rounded(shared[1] ?? 0),
      reference: rounded(shared[0] ?? 0),
      figure: (shared[1] ?? 0) / (shared[0] ?? 0),
      unit: '×',
      bar: { least: 1 },
    },
  ])
}

async function prepare({ address }: Program): Promise<{ agentId: string; sourceId: string }> {
  const agent = await newAgent(address, 'reader')
  return { agentId: agent, sourceId: await upload(address, agent) }
}

async function upload(address: string, agentId: string): Promise<string> {
  const body = new FormData()
  body.set('type', 'file')
  body.set('file', new Blob(['A short text about nothing much.']), 'notes.txt')
  const sources = `${address}/api/agents/${agentId}/sources`
  return (await call<{ id: string }>(sources, { method: 'POST', body })).id
}

async function newAgent(address: string, name: string): Promise<string> {
  const request = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name }),
  }
  return (await call<{ id: string }>(`${address}/api/agents`, request)).id
}

/** Requests a second of each group, whose members are asked at the same time; the groups take turns. */
async function speedsOf(groups: readonly (readonly RepeatedRequest[])[]): Promise<number[]> {
  const speeds = groups.map((): number[] => [])
  for (let round = -1; round < rounds; round += 1)
    for (const [index, group] of groups.entries()) {
      const share = { ...load, connections: connections / group.length }
      const results = await Promise.all(group.map(request => measureLoad(request, share)))
      // The first round warms up.
      if (round >= 0) speeds[index]?.push(results.reduce((sum, { perSecond }) => sum + perSecond, 0))
    }
  return speeds.map(median)
}

/** Creates agents up to the number, each with its database, and times creating, listing and opening. */
async function addAgents({ address }: Program): Promise<void> {
  const creations: number[] = []
  const ids: string[] = []
  let early = { list: 0, open: 0 }
  for (let number = 1; number <= manyAgents; number += 1) {
    const begun = performance.now()
    const id = await newAgent(address, `agent-${number}`)
    // The first use makes the agent's own tables.
    await call(`${address}/api/agents/${id}`)
    await upload(address, id)
    creations.push(performance.now() - begun)
    ids.push(id)
    if (number === 100) early = await reading(address, ids)
  }
  const late = await reading(address, ids)
  const [first, last] = [median(creations.slice(20, 20 + sample)), median(creations.slice(-sample))]
  printTable(`${manyAgents} agents in one database`, 'the same with few agents', [
    row('creating the last one, with an upload / the 20th', last, first, 1.5),
    row('a page of 20 agents', late.list, early.list),
    row('opening one that is not in use', late.open, early.open),
  ])
}

function row(what: string, service: number, reference: number, most?: number) {
  return {
    what,
    service: `${rounded(service)} ms`,
    reference: `${rounded(reference)} ms`,
    figure: service / reference,
    unit: '×' as const,
    ...(most === undefined ? {} : { bar: { most } }),
  }
}

/** Medians in milliseconds: a page of the list, and the first use of agents whose databases are closed meanwhile. */
async function reading(address: string, ids: readonly string[]): Promise<{ list: number; open: number }> {
  const time = async (path: string) => {
    const begun = performance.now()
    await call(`${address}${path}`)
    return performance.now() - begun
  }
  const lists: number[] = []
  for (let turn = 0; turn < sample; turn += 1) lists.push(await time('/api/agents?limit=20'))
  const opens: number[] = []
  // The service keeps fewer databases open than there are agents by now; the oldest ones are closed.
  for (const id of ids.slice(0, sample)) opens.push(await time(`/api/agents/${id}/chat/conversations`))
  return { list: median(lists), open: median(opens) }
}
