/** How long it takes from an upload until its text is found, and whether the service answers others meanwhile. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Program } from './support/program.ts'
import { call, sourcesOf, startService, uploadText } from './support/service.ts'
import { median, percentile } from './support/statistics.ts'
import { printTable, rounded } from './support/table.ts'
import { createWriter } from './support/text.ts'

const uploads = 3
const megabyte = 1_000_000
const searchEveryMs = 50
const askEveryMs = 10
const limitMs = 15_000

await using service = await startService()
const writer = createWriter(1)
await measureHealth(delay(500))
const idle = await measureHealth(delay(3000))
const times: number[] = []
const busy: number[] = []
for (let number = 1; number <= uploads; number += 1) {
  const ingested = timeToFind(service, `lighthouse${number}keeper`)
  busy.push(...(await measureHealth(ingested)))
  times.push(await ingested)
}
const [slowest, p99, idleP99] = [Math.max(...times) / 1000, percentile(busy, 0.99), percentile(idle, 0.99)]
printTable('ingestion', 'the same service at rest', [
  {
    what: `1 MB of text, from upload to found, slowest of ${uploads}`,
    service: `median ${rounded(median(times) / 1000)} s`,
    figure: slowest,
    unit: 's',
    bar: { most: 5 },
  },
  {
    what: `GET /healthz meanwhile, p99 of ${busy.length}`,
    service: `${rounded(p99)} ms`,
    reference: `${rounded(idleP99)} ms`,
    figure: p99,
    unit: 'ms',
    bar: { most: 50 },
  },
  { what: '  the same, as a multiple', service: '', figure: p99 / idleP99, unit: '×' },
])

/** Milliseconds from the upload until the last words of the text are found. */
async function timeToFind(program: Program, lastWord: string): Promise<number> {
  const text = `${writer.text(megabyte)}\n\nThe light is kept by ${lastWord}.`
  const begun = performance.now()
  const sourceId = await uploadText(program, lastWord, text)
  const address = `${sourcesOf(program)}/search?limit=1&query=${lastWord}`
  for (;;) {
    const { results } = await call<{ results: { source_id: string; content: string }[] }>(address)
    const elapsed = performance.now() - begun
    if (results[0]?.source_id === sourceId && results[0].content.includes(lastWord)) return elapsed
    if (elapsed > limitMs) throw new Error(`the text is not found after ${limitMs} ms`)
    await delay(searchEveryMs)
  }
}

/** Milliseconds that each of the requests took that were due while something goes on, those that had to wait included. */
async function measureHealth(work: Promise<unknown>): Promise<number[]> {
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
    answers.push(call(`${service.address}/healthz`).then(() => performance.now() - due))
  }
  return Promise.all(answers)
}
