/**
 * What the service adds to a model's streamed answer: to the time of its first token, for one caller and for many at
 * once, and to the gaps between tokens; and the processor time of a turn. The gaps are also compared with those of a
 * process that only passes the stream on: on a few cores a third process delays tokens by being there.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { type Program, startProgram } from './support/program.ts'
import { call, startService } from './support/service.ts'
import { median, percentile } from './support/statistics.ts'
import { printTable, type Row, rounded } from './support/table.ts'
import { readTokens, type StreamRequest, type TokenTimes } from './support/token-stream.ts'

/** An answer that is asked for: so many tokens, at a pace in tokens a second or as fast as possible. */
interface Wanted {
  tokens: number
  pace?: number
}

/** Sends the caller's request; callers are numbered from 0. */
type Ask = (caller: number, wanted: Wanted) => Promise<TokenTimes>

/** The same figure, in milliseconds, of the service and of its reference. */
interface Compared {
  service: number
  reference: number
}

const singleRequests = 300
const manyCallers = 100
const bursts = 8
const turns = 300
const streams = 200
const streamTokens = 450
const pace = 50

/** An agent answers at most 50 conversations at a time. */
const callersPerAgent = 40
const agents = streams / callersPerAgent

await using model = await startProgram({ parameters: ['bench/support/model-server.ts'] })
await using passThrough = await startProgram({
  parameters: ['bench/support/pass-through.ts', model.address],
})
await using service = await startService({
  environment: {
    DEV_USER: 'bench@localhost.test',
    DEFAULT_PROVIDER: 'openai-compatible',
    DEFAULT_MODEL: 'fake-model',
    OPENAI_COMPATIBLE_BASE_URL: `${model.address}/v1`,
  },
})
const direct = askModel(model)
const passed = askModel(passThrough)
const through = await askService(service)

const one = await firstTokenOfOne()
const many = await firstTokenOfMany()
const fastTurn = await processorTimeOf(1, { tokens: 50 })
const pacedTurn = await processorTimeOf(manyCallers, { tokens: 50, pace })
// The service stands between the two that it is compared with, so that a machine that gets slower favours neither.
const gapsPassed = await gapBetweenTokens(passed)
const gapsThrough = await gapBetweenTokens(through)
const gapsDirect = await gapBetweenTokens(direct)
const gapRow = `gap of tokens, ${streams} streams of ${pace}/s, p99`
printTable('streaming', 'the model server, called directly', [
  addedRow('first token, 1 caller, median', one, 3),
  addedRow(`first token, ${manyCallers} callers at once, median`, many, 40),
  ratioRow(gapRow, { service: gapsThrough, reference: gapsDirect }, 2),
])
printTable(
  'what standing between costs: processor time of a turn, and gaps',
  'a Node process that only passes the stream on',
  [
    costRow('50 tokens, as fast as possible', fastTurn, 3),
    ratioRow('  the same, as a multiple', fastTurn),
    costRow(`50 tokens, ${pace} a second, ${manyCallers} callers`, pacedTurn, 3),
    ratioRow('  the same, as a multiple', pacedTurn),
    ratioRow(gapRow, { service: gapsThrough, reference: gapsPassed }),
  ],
)

function questionOf({ tokens, pace }: Wanted): string {
  return pace === undefined ? `${tokens} tokens` : `${tokens} tokens at ${pace}/s`
}

function askModel({ address }: Program): Ask {
  const stream: Omit<StreamRequest, 'body'> = {
    address: `${address}/v1/chat/completions`,
    tokenMark: '"content":"',
    endMark: '[DONE]',
  }
  return (_caller, wanted) => {
    const messages = [{ role: 'user', content: questionOf(wanted) }]
    const body = JSON.stringify({ model: 'fake-model', messages, stream: true })
    return readTokens({ ...stream, body }, wanted.tokens)
  }
}

/** Callers are spread over agents; every question begins a conversation. */
async function askService({ address }: Program): Promise<Ask> {
  const headers = { 'content-type': 'application/json' }
  const addresses: string[] = []
  for (let number = 1; number <= agents; number += 1) {
    const body = JSON.stringify({ name: `agent-${number}` })
    const { id } = await call<{ id: string }>(`${address}/api/agents`, { method: 'POST', headers, body })
    addresses.push(`${address}/api/agents/${id}/chat`)
  }
  return (caller, wanted) => {
    const address = addresses[Math.floor(caller / callersPerAgent)]
    if (address === undefined) throw new Error(`there is no agent for caller ${caller}`)
    const body = JSON.stringify({ content: questionOf(wanted), stream: true })
    const marks = { tokenMark: '"type":"content_delta"', endMark: '"type":"message_complete"' }
    return readTokens({ address, body, ...marks }, wanted.tokens)
  }
}

/** Direct calls and calls of the service take turns, so that both meet the same machine. */
async function firstTokenOfOne(): Promise<Compared> {
  const wanted = { tokens: 10 }
  return mediansOf(100, singleRequests, async ask => [(await ask(0, wanted)).firstToken])
}

/** All callers ask at the same moment, again and again; the answers flow at the pace of a model. */
async function firstTokenOfMany(): Promise<Compared> {
  return mediansOf(2, bursts, async ask => {
    const asked = Array.from({ length: manyCallers }, (_, caller) => ask(caller, { tokens: 10, pace }))
    return (await Promise.all(asked)).map(({ firstToken }) => firstToken)
  })
}

async function mediansOf(warmUp: number, rounds: number, timesOf: (ask: Ask) => Promise<number[]>) {
  const times = { service: [] as number[], reference: [] as number[] }
  for (let round = -warmUp; round < rounds; round += 1) {
    const service = await timesOf(through)
    const reference = await timesOf(direct)
    if (round < 0) continue
    times.service.push(...service)
    times.reference.push(...reference)
  }
  return { service: median(times.service), reference: median(times.reference) }
}

/** Milliseconds of processor time of a turn, over many of them; the callers begin one after the other within a second. */
async function processorTimeOf(callers: number, wanted: Wanted): Promise<Compared> {
  const measure = async (program: Program, ask: Ask) => {
    const before = program.processorTime()
    await spread(callers, async caller => {
      for (let turn = 0; turn < turns / callers; turn += 1) await ask(caller, wanted)
    })
    return (program.processorTime() - before) / turns
  }
  return { service: await measure(service, through), reference: await measure(passThrough, passed) }
}

/** Milliseconds that only one gap in a hundred exceeds, all streams taken together. */
async function gapBetweenTokens(ask: Ask): Promise<number> {
  const answers = await spread(streams, caller => ask(caller, { tokens: streamTokens, pace }))
  return percentile(
    answers.flatMap(answer => answer.gaps),
    0.99,
  )
}

/** Lets callers begin one after the other within a second, so that their tokens are spread over time. */
async function spread<Result>(callers: number, work: (caller: number) => Promise<Result>): Promise<Result[]> {
  return Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      await delay((caller * 1000) / callers)
      return work(caller)
    }),
  )
}

function addedRow(what: string, compared: Compared, most: number): Row {
  const figure = compared.service - compared.reference
  return { ...sides(what, compared), figure, unit: 'ms', bar: { most } }
}

function costRow(what: string, compared: Compared, most: number): Row {
  return { ...sides(what, compared), figure: compared.service, unit: 'ms', bar: { most } }
}

function ratioRow(what: string, compared: Compared, most?: number): Row {
  const figure = compared.service / compared.reference
  const bar = most === undefined ? {} : { bar: { most } }
  return { ...sides(what, compared), figure, unit: '×', ...bar }
}

function sides(what: string, { service, reference }: Compared) {
  return { what, service: `${rounded(service)} ms`, reference: `${rounded(reference)} ms` }
}
