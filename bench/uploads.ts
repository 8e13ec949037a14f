/** A thousand files at once: what memory the service holds until all are processed, and whether it answers others meanwhile. */
import { setTimeout as delay } from 'node:timers/promises'
import { type MixedDocument, mixDocuments } from '#test/support/mixed-documents.ts'
import { startProgram } from './support/program.ts'
import { call, sourcesOf, startService } from './support/service.ts'
import { startProbe } from './support/start-probe.ts'
import { percentile } from './support/statistics.ts'
import { printTable, rounded } from './support/table.ts'
import { createWriter } from './support/text.ts'

const count = 1000
const characters = 105_000
const maxUploadBytes = 1_000_000
const inWork = 'status=pending&status=processing&status=updating'

const { text: write } = createWriter(3)
const documents = mixDocuments({ count, characters, write, maxUploadBytes })
const bodies = await Promise.all(documents.map(document => document.make()))
await using service = await startService({ environment: { MAX_UPLOAD_BYTES: `${maxUploadBytes}` } })
await using bare = await startProgram({ parameters: ['bench/support/bare-health.ts'] })

let most = 0
const watch = setInterval(() => {
  most = Math.max(most, service.residentMemory())
}, 50)
const endProbe = await startProbe([service.address, bare.address].map(address => `${address}/healthz`))
const begun = performance.now()
await Promise.all(documents.map((document, at) => upload(document, bodies[at] ?? new Uint8Array())))
const uploaded = (performance.now() - begun) / 1000
while ((await call<{ meta: { total: number } }>(`${sourcesOf(service)}?${inWork}&limit=1`)).meta.total > 0)
  await delay(500)
const processed = (performance.now() - begun) / 1000
const [health = [], reference = []] = await endProbe()
clearInterval(watch)

const megabytes = bodies.reduce((sum, body) => sum + body.length, 0) / 1e6
const [p99, referenceP99] = [percentile(health, 0.99), percentile(reference, 0.99)]
printTable('uploads', 'a bare Fastify that is asked at the same moments', [
  {
    what: `most memory, ${count} files of ${rounded(megabytes)} MB in all`,
    service: `${rounded(most)} MB`,
    figure: most,
    unit: 'MB',
    bar: { most: 600 },
  },
  {
    what: `GET /healthz meanwhile, p99 of ${health.length}`,
    service: `${rounded(p99)} ms`,
    reference: `${rounded(referenceP99)} ms`,
    figure: p99,
    unit: 'ms',
    bar: { most: 50 },
  },
  { what: 'until all uploads are answered', service: '', figure: uploaded, unit: 's' },
  { what: 'until all files are processed', service: '', figure: processed, unit: 's' },
  {
    what: '  processor time of that, for each file',
    service: '',
    figure: service.processorTime() / count,
    unit: 'ms',
  },
])

async function upload({ name, outcome }: MixedDocument, bytes: Uint8Array): Promise<void> {
  const body = new FormData()
  body.set('type', 'file')
  body.set('file', new File([new Uint8Array(bytes)], name))
  const response = await fetch(sourcesOf(service), { method: 'POST', body })
  const expected = outcome.kind === 'refused' ? outcome.status : 201
  const text = await response.text()
  if (response.status !== expected) throw new Error(`${name} was answered with ${response.status}: ${text}`)
}
