/** A thousand events for twenty webhooks of one agent, some of which never answer; beside them a crawl and an upload. */
import { setTimeout as delay } from 'node:timers/promises'
import { startProgram } from './support/program.ts'
import { call, startService, untilReady, uploadText } from './support/service.ts'
import { percentile } from './support/statistics.ts'
import { printTable, rounded } from './support/table.ts'
import { createWriter } from './support/text.ts'

const webhooks = 20
const events = Number(process.env.BENCH_EVENTS ?? 1000)
/** Of the webhooks, those that never answer. */
const slow = Number(process.env.BENCH_SLOW ?? 1)
/** Events a second. */
const pace = Number(process.env.BENCH_PACE ?? 20)
const expected = events * (webhooks - slow)
const limitMs = 300_000

await using receiver = await startProgram({ parameters: ['bench/support/webhook-receiver.ts'] })
await using site = await startProgram({ parameters: ['bench/support/crawl-site.ts'] })
await using service = await startService({ environment: { OUTBOUND_ALLOW: '127.0.0.1' } })
const agent = `${service.address}/api/agents/default`
const post = <Body>(path: string, body: unknown) =>
  call<Body>(`${agent}/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
for (let n = 0; n < webhooks; n += 1)
  await post('webhooks', {
    url: `${receiver.address}/${n < slow ? 'slow' : 'quick'}${n}`,
    events: ['contact.created'],
  })

const begun = performance.now()
const crawl = post<{ id: string }>('sources/crawl', { name: 'Site', url: site.address, maxPages: 50 })
const upload = uploadText(service, 'upload', createWriter(5).text(200_000))
const beside = Promise.all([crawl.then(({ id }) => id), upload])
  .then(ids => Promise.all(ids.map(id => untilReady(service, id))))
  .then(() => (performance.now() - begun) / 1000)
const added: number[] = []
await Promise.all(
  Array.from({ length: events }, async (_, n) => {
    await delay((n * 1000) / pace)
    const asked = performance.now()
    await post('contacts', { name: `Contact ${n}` })
    added.push(performance.now() - asked)
  }),
)
const emitted = (performance.now() - begun) / 1000
let times: number[] = []
for (const end = performance.now() + limitMs; times.length < expected && performance.now() < end; ) {
  await delay(200)
  const all = await call<{ path: string; ms: number }[]>(`${receiver.address}/times`)
  times = all.filter(({ path }) => path.startsWith('/quick')).map(({ ms }) => ms)
}
const delivered = (performance.now() - begun) / 1000
const besideAfter = await beside

printTable('webhooks', 'nothing', [
  {
    what: `from event to receiver, ${times.length} deliveries, p99`,
    service: `p50 ${rounded(percentile(times, 0.5) / 1000)} s`,
    figure: percentile(times, 0.99) / 1000,
    unit: 's',
    bar: { most: 5 },
  },
  {
    what: 'deliveries that did not come',
    service: `${expected - times.length} of ${expected}`,
    figure: (100 * (expected - times.length)) / expected,
    unit: '%',
    bar: { most: 0 },
  },
  { what: `until the ${events} events were stored`, service: '', figure: emitted, unit: 's' },
  { what: '  of each, p99', service: '', figure: percentile(added, 0.99), unit: 'ms' },
  { what: 'until all deliveries had come', service: '', figure: delivered, unit: 's' },
  { what: 'until a crawl and an upload beside them were done', service: '', figure: besideAfter, unit: 's' },
  {
    what: '  processor time, each delivery',
    service: '',
    figure: service.processorTime() / times.length,
    unit: 'ms',
  },
])
