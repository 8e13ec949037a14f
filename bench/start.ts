/** How long the service takes from the start of its process until it is ready, and what it holds while nobody asks. */
import { setTimeout as delay } from 'node:timers/promises'
import { makeDataDirectory } from './support/data-directory.ts'
import { type Program, startProgram } from './support/program.ts'
import { startService } from './support/service.ts'
import { median } from './support/statistics.ts'
import { printTable, rounded } from './support/table.ts'

const starts = 7
const idleMs = 10_000
/** Processor time is counted in steps of 10 ms. */
const restSeconds = 20

const dataDirectory = makeDataDirectory()
const startOnData = () => startService({ dataDirectory })
const startNode = () => startProgram({ parameters: ['bench/support/idle-program.ts'] })

const first = await timeOf(startOnData)
const later: number[] = []
const node: number[] = []
for (let index = 0; index < starts; index += 1) {
  later.push(await timeOf(startOnData))
  node.push(await timeOf(startNode))
}
const idle = await atRest()
const second = { time: median(later) / 1000, node: median(node) / 1000 }
printTable('start and idle', 'a Node process that runs an empty program', [
  {
    what: 'first start, with empty data',
    service: `${rounded(first)} ms`,
    figure: first / 1000,
    unit: 's',
  },
  {
    what: `later start, median of ${starts}`,
    service: `${rounded(median(later))} ms`,
    reference: `${rounded(median(node))} ms`,
    figure: second.time,
    unit: 's',
    bar: { most: 1 },
  },
  {
    what: '  the same, as a multiple',
    service: '',
    figure: second.time / second.node,
    unit: '×',
  },
  {
    what: `memory ${idleMs / 1000} s after the start`,
    service: `${rounded(idle.service.memory)} MB`,
    reference: `${rounded(idle.node.memory)} MB`,
    figure: idle.service.memory,
    unit: 'MB',
    bar: { most: 150 },
  },
  {
    what: `processor time a second, over ${restSeconds} s after that`,
    service: `${rounded(idle.service.perSecond)} ms`,
    reference: `${rounded(idle.node.perSecond)} ms`,
    figure: idle.service.perSecond,
    unit: 'ms',
  },
])

async function timeOf(start: () => Promise<Program>): Promise<number> {
  await using program = await start()
  return program.readyAfter
}

async function atRest() {
  await using service = await startOnData()
  await using node = await startNode()
  await delay(idleMs)
  const [ofService, ofNode] = await Promise.all([restOf(service), restOf(node)])
  return { service: ofService, node: ofNode }
}

async function restOf(program: Program) {
  const memory = program.residentMemory()
  const before = program.processorTime()
  await delay(restSeconds * 1000)
  return { memory, perSecond: (program.processorTime() - before) / restSeconds }
}
