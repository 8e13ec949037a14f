/**
 * How long reading a large OpenAPI document takes, against parsing the same text alone, and how long the event loop waits
 * for it when a worker reads. With REAL_FIXTURES set the documents are real ones, else one that is made here.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createOpenApiReader } from '#features/tools/openapi/openapi-reader.ts'
import { readOpenApi } from '#features/tools/openapi/read-openapi.ts'
import { createLog } from '#platform/logging/log.ts'
import { createWorkerPool } from '#platform/workers/worker-pool.ts'
import { makeOpenApiDocument } from '#test/support/openapi-document.ts'
import { median } from './support/statistics.ts'
import { printTable, type Row, rounded } from './support/table.ts'

const rounds = 15
const documentUrl = 'https://api.example.com/openapi.json'
const folder = join(process.env.REAL_FIXTURES ?? '', 'openapi')

const texts: [string, string][] = existsSync(join(folder, 'asana.json'))
  ? ['dify-en.json', 'asana.json', 'twilio-messaging-v1.json'].map(name => [
      name,
      readFileSync(join(folder, name), 'utf8'),
    ])
  : [['made here', largeDocument()]]

const rows: Row[] = texts.map(([name, text]) => rowOf(name, text))
rows.push(await delayRow(texts[0]?.[1] ?? ''))
printTable('OpenAPI documents', 'JSON.parse of the same text', rows)

/** The sample of the tests under three hundred prefixes, which makes about two thousand operations. */
function largeDocument(): string {
  const document = makeOpenApiDocument('https://api.example.com')
  const entries = Object.entries(document.paths)
  const paths = Array.from({ length: 300 }, (_, index) =>
    entries.map(([path, item]) => [`/p${index}${path}`, item]),
  )
  return JSON.stringify({ ...document, paths: Object.fromEntries(paths.flat()) })
}

function rowOf(name: string, text: string): Row {
  const times = { read: [] as number[], parse: [] as number[] }
  let operations = 0
  for (let round = -2; round < rounds; round += 1) {
    const parse = processorTime(() => JSON.parse(text))
    const read = processorTime(() => {
      operations = readOpenApi({ text, documentUrl }).operations.length
    })
    if (round < 0) continue
    times.parse.push(parse)
    times.read.push(read)
  }
  const [read, parse] = [median(times.read), median(times.parse)]
  return {
    what: `${name}: ${operations} tools of ${rounded(text.length / 1024)} KB`,
    service: `${rounded(read)} ms`,
    reference: `${rounded(parse)} ms`,
    figure: read / parse,
    unit: '×',
    bar: { most: 50 },
  }
}

/** Milliseconds of processor time. */
function processorTime(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

async function delayRow(text: string): Promise<Row> {
  const workers = createWorkerPool({ log: createLog('silent') })
  const read = createOpenApiReader(workers)
  await read({ text, documentUrl })
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const begun = performance.now()
  for (let round = 0; round < rounds; round += 1) await read({ text, documentUrl })
  const each = (performance.now() - begun) / rounds
  delay.disable()
  await workers.close()
  return {
    what: 'longest wait of the event loop while a worker reads',
    service: `${rounded(each)} ms a document`,
    figure: delay.max / 1e6,
    unit: 'ms',
    bar: { most: 20 },
  }
}
