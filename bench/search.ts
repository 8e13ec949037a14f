/** How long a search over 10,000 chunks takes through HTTP, against a request that only reads one row. */
import { sourcesOf, startService, untilReady, uploadText } from './support/service.ts'
import { median, percentile } from './support/statistics.ts'
import { printTable, rounded } from './support/table.ts'
import { createWriter } from './support/text.ts'
import { timeOf } from './support/timed-request.ts'

const wantedChunks = 10_000
const documentCharacters = 1_500_000
const searches = 300
const callers = 10
/** By then both threads run compiled code, and know the words that are asked for often. */
const warming = 1_500
const lasting = 3_000

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
// One caller alone needs one thread: the second one begins with these, and learns its code and the index.
const firstTimes = await askTogether(searches)
const nextTimes = await askTogether(warming)
const parallelTimes = await askTogether(lasting)
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
  {
    what: `the first ${searches} of ${callers} callers at a time, p99`,
    service: `${rounded(percentile(firstTimes, 0.99))} ms`,
    figure: percentile(firstTimes, 0.99),
    unit: 'ms',
  },
  {
    what: `  the next ${warming}, p50`,
    service: `${rounded(median(nextTimes))} ms`,
    figure: median(nextTimes),
    unit: 'ms',
  },
  {
    what: `  the ${lasting} after these, p50`,
    service: `${rounded(median(parallelTimes))} ms`,
    figure: median(parallelTimes),
    unit: 'ms',
    bar: { most: 15 },
  },
  {
    what: '  p99',
    service: `${rounded(percentile(parallelTimes, 0.99))} ms`,
    figure: percentile(parallelTimes, 0.99),
    unit: 'ms',
    bar: { most: 60 },
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

/** Each caller asks again as soon as it is answered. */
async function askTogether(count: number): Promise<number[]> {
  const caller = async () => {
    const times: number[] = []
    for (let asked = 0; asked < count / callers; asked += 1)
      times.push(await timeOf(`${sources}/search?query=${encodeURIComponent(writer.words(3 + (asked % 8)))}`))
    return times
  }
  return (await Promise.all(Array.from({ length: callers }, caller))).flat()
}
