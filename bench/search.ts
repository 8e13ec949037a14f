/** How long a search over 10,000 chunks takes through HTTP, against a request that only reads one row. */
import { call, sourcesOf, startService, untilReady, uploadText } from './support/service.ts'
import { median, percentile } from './support/statistics.ts'
import { printTable, rounded } from './support/table.ts'
import { createWriter } from './support/text.ts'

const wantedChunks = 10_000
const documentCharacters = 1_500_000
const searches = 300

await using service = await startService()
const sources = sourcesOf(service)
const writer = createWriter(2)
const { chunks, lastSource } = await fill()
const searchTimes: number[] = []
const readTimes: number[] = []
const warmUp = 20
for (let index = -warmUp; index < searches; index += 1) {
  const query = encodeURIComponent(writer.words(3 + (Math.abs(index) % 8)))
  const search = await timeOf(`${sources}/search?query=${query}`)
  const read = await timeOf(`${sources}/${lastSource}`)
  if (index < 0) continue
  searchTimes.push(search)
  readTimes.push(read)
}
printTable('search', 'GET of one row of the same service', [
  {
    what: `search over ${chunks} chunks, p50 of ${searches}`,
    service: `${rounded(median(searchTimes))} ms`,
    reference: `${rounded(median(readTimes))} ms`,
    figure: median(searchTimes),
    unit: 'ms',
    bar: { most: 25 },
  },
  {
    what: '  p99',
    service: `${rounded(percentile(searchTimes, 0.99))} ms`,
    reference: `${rounded(percentile(readTimes, 0.99))} ms`,
    figure: percentile(searchTimes, 0.99),
    unit: 'ms',
  },
])

/** Uploads documents, one after the other, until there are enough chunks. */
async function fill() {
  let chunks = 0
  for (let number = 1; ; number += 1) {
    const lastSource = await uploadText(service, `document-${number}`, writer.text(documentCharacters))
    chunks += await untilReady(service, lastSource)
    if (chunks >= wantedChunks) return { chunks, lastSource }
  }
}

async function timeOf(address: string): Promise<number> {
  const begun = performance.now()
  await call(address)
  return performance.now() - begun
}
