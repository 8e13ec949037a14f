/** Processor time of a POST that stores a contact: with its row of the audit log, and without one, by turns. */
import type { Program } from './support/program.ts'
import { measureLoad } from './support/request-load.ts'
import { startService } from './support/service.ts'
import { median } from './support/statistics.ts'
import { printTable, rounded } from './support/table.ts'

const connections = 8
const rounds = 5
const roundMs = 3000

await using audited = await startService()
await using bare = await startService({
  environment: { NODE_OPTIONS: `--import=${new URL('support/unaudited.ts', import.meta.url).pathname}` },
})
const costs = { audited: [] as number[], bare: [] as number[] }
await Promise.all([audited, bare].map(post))
for (let round = 0; round < rounds; round += 1) {
  costs.audited.push(await post(audited))
  costs.bare.push(await post(bare))
}
const ratios = costs.audited.map((cost, round) => cost / (costs.bare[round] ?? cost))
printTable('the audit log', 'the same POST, of which no row is kept', [
  {
    what: 'processor time of a POST',
    service: `${rounded(median(costs.audited))} µs`,
    reference: `${rounded(median(costs.bare))} µs`,
    figure: median(ratios),
    unit: '×',
    bar: { most: 1.1 },
  },
])

/** Microseconds of processor time, all threads and the moving of rows included. */
async function post(service: Program): Promise<number> {
  const request = { address: `${service.address}/api/agents/default/contacts`, body: '{"name":"Ada"}' }
  const before = service.processorTime()
  const { perSecond } = await measureLoad(request, { connections, milliseconds: roundMs })
  return ((service.processorTime() - before) * 1000) / ((perSecond * roundMs) / 1000)
}
