/** What a call of JavaScript in the sandbox costs, against a bare round trip to a thread. */
import { deepStrictEqual } from 'node:assert/strict'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { createLog } from '#platform/logging/log.ts'
import { createOutbound } from '#platform/outbound/outbound.ts'
import { createSandbox } from '#sandbox/javascript/sandbox.ts'
import { median, percentile } from './support/statistics.ts'
import { printTable, rounded } from './support/table.ts'

const calls = 300
const warmUp = 20
const argument = { items: [1, 2, 3] }
const code = 'return { sum: args.items.reduce((one, other) => one + other) }'
const echo =
  "const { parentPort } = require('node:worker_threads'); parentPort.on('message', text => parentPort.postMessage(text))"

const outbound = createOutbound({ allow: [], userAgent: 'benchmark' })
const sandbox = createSandbox({ log: createLog('silent'), fetch: outbound.fetch })
try {
  await measure()
} finally {
  await sandbox.close()
  await outbound.close()
}

async function measure(): Promise<void> {
  const coldCall = await timeOf(call)
  let thread: Worker | undefined
  const coldThread = await timeOf(async () => {
    thread = new Worker(echo, { eval: true })
    await roundTrip(thread)
  })
  const [callTimes, threadTimes]: [number[], number[]] = [[], []]
  for (let index = -warmUp; index < calls; index += 1) {
    const callTime = await timeOf(call)
    const threadTime = await timeOf(() => roundTrip(thread))
    if (index < 0) continue
    callTimes.push(callTime)
    threadTimes.push(threadTime)
  }
  await thread?.terminate()
  print({ coldCall, coldThread, callTimes, threadTimes, processorTime: await processorTimeOf(call) })
}

/** Milliseconds of all threads for one of many in a row: the median of five rounds. */
async function processorTimeOf(work: () => Promise<void>): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < 5; round += 1) {
    const before = process.cpuUsage()
    for (let index = 0; index < calls; index += 1) await work()
    const { user, system } = process.cpuUsage(before)
    times.push((user + system) / 1000 / calls)
  }
  return median(times)
}

async function call(): Promise<void> {
  const result = await sandbox.run({ code, argument, owner: 'benchmark' })
  deepStrictEqual(result, { outcome: 'returned', value: { sum: 6 }, console: [] })
}

async function roundTrip(thread: Worker | undefined): Promise<void> {
  const answer = thread && once(thread, 'message')
  thread?.postMessage(JSON.stringify({ code, argument }))
  await answer
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

interface Times {
  coldCall: number
  coldThread: number
  callTimes: number[]
  threadTimes: number[]
  processorTime: number
}

function print({ coldCall, coldThread, callTimes, threadTimes, processorTime }: Times): void {
  const [call, thread] = [median(callTimes), median(threadTimes)]
  printTable('sandbox', 'a round trip to a thread that only echoes', [
    {
      what: `a call, p50 of ${calls}`,
      service: `${rounded(call)} ms`,
      reference: `${rounded(thread)} ms`,
      figure: call,
      unit: 'ms',
      bar: { most: 1 },
    },
    { what: '  the same, as a multiple', service: '', figure: call / thread, unit: '×' },
    {
      what: '  p99',
      service: `${rounded(percentile(callTimes, 0.99))} ms`,
      reference: `${rounded(percentile(threadTimes, 0.99))} ms`,
      figure: percentile(callTimes, 0.99),
      unit: 'ms',
    },
    {
      what: 'processor time of a call',
      service: `${rounded(processorTime)} ms`,
      figure: processorTime,
      unit: 'ms',
      bar: { most: 1 },
    },
    {
      what: 'the first call, thread included',
      service: `${rounded(coldCall)} ms`,
      reference: `${rounded(coldThread)} ms`,
      figure: coldCall,
      unit: 'ms',
    },
  ])
}
