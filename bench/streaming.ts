/**
 * What the service adds to a model's streamed answer: to the time of its first token, for one caller and for many at
 * once, and to the gaps between tokens; and the processor time of a turn.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Program } from './support/program.ts'
import { startProgram } from './support/program.ts'
import { call, startService } from './support/service.ts'
import { median, percentile } from './support/statistics.ts'
import type { Row } from './support/table.ts'
import { printTable, rounded } from './support/table.ts'
import type { StreamRequest, TokenTimes } from './support/token-stream.ts'
import { readTokens } from './support/token-stream.ts'

/** An answer that is asked for: so many tokens, at a pace in tokens a second or as fast as possible. */
interface Wanted {
  tokens: number
  pace?: number
}

/** Sends the caller's request; callers are numbered from 0. */
type Ask = (caller: number, wanted: Wanted) => Promise<TokenTimes>

const singleRequests = 300
const manyCallers = 100
const bursts = 10
const turns = 300
const streams = 200
const streamTokens = 700
const pace = 50

/** An agent answers at most 50 conversations at a time. */
const callersPerAgent = 40
const agents = streams / callersPerAgent

await using model = await startProgram({ parameters: ['bench/support/model-server.ts'] })
await using service = await startService({
  environment: {
    DEV_USER: 'bench@localhost.test',
    DEFAULT_PROVIDER: 'openai-compatible',
    DEFAULT_MODEL: 'fake-model',
    OPENAI_COMPATIBLE_BASE_URL: `${model.address}/v1`,
  },
})
const direct = askModel(model)
const through = await askService(service)

const one = await firstTokenOfOne()
const many = await firstTokenOfMany()
const fastTurn = await processorTimeOfTurns(1, {
  tokens: 50,
})
const pacedTurn = await processorTimeOfTurns(manyCallers, { tokens: 50, pace })
const gaps = await gapsBetweenTokens()
printTable('streaming', 'the same model server, called directly', [
  addedRow('first token, 1 caller, median', one, 3),
  addedRow(`first token, ${manyCallers} callers at once, median`, many, 40),
  processorRow('processor time of 50 tokens, sent at once', fastTurn),
  processorRow(`processor time of 50 tokens, ${pace} a second`, pacedTurn),
  gapRow(`gap of tokens, ${streams} streams of ${pace}/s, p99`, gaps),
])

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
    return readTokens(
      { ...stream, body: JSON.stringify({ model: 'fake-model', messages, stream: true }) },
      wanted.tokens,
    )
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

interface Compared {
  service: number
  direct: number
}

/** Direct calls and calls of the service take turns, so that both meet the same machine. */
async function firstTokenOfOne(): Promise<Compared> {
  const wanted = { tokens: 10 }
  const times = { service: [] as number[], direct: [] as number[] }
  const warmUp = 100
  for (let index = -warmUp; index < singleRequests; index += 1) {
    const [service, plain] = [await through(0, wanted), await direct(0, wanted)]
    if (index < 0) continue
    times.service.push(service.firstToken)
    times.direct.push(plain.firstToken)
  }
  return { service: median(times.service), direct: median(times.direct) }
}

/** All callers ask at the same moment, again and again; the answers flow at the pace of a model. */
async function firstTokenOfMany(): Promise<Compared> {
  const times = { service: [] as number[], direct: [] as number[] }
  const warmUp = 2
  for (let index = -warmUp; index < bursts; index += 1) {
    const service = await burst(through)
    const plain = await burst(direct)
    if (index < 0) continue
    times.service.push(...service)
    times.direct.push(...plain)
  }
  return { service: median(times.service), direct: median(times.direct) }
}

async function burst(ask: Ask): Promise<number[]> {
  const answers = await Promise.all(
    Array.from({ length: manyCallers }, (_, caller) => ask(caller, { tokens: 10, pace })),
  )
  return answers.map(({ firstToken }) => firstToken)
}

/** Milliseconds of processor time that the service spends on a turn, over many of them. */
async function processorTimeOfTurns(callers: number, wanted: Wanted): Promise<number> {
  const before = service.processorTime()
  const perCaller = turns / callers
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      await delay((caller * 1000) / callers)
      for (let turn = 0; turn < perCaller; turn += 1) await through(caller, wanted)
    }),
  )
  return (service.processorTime() - before) / turns
}

async function gapsBetweenTokens(): Promise<Compared> {
  return {
    direct: percentile(await allGaps(direct), 0.99),
    service: percentile(await allGaps(through), 0.99),
  }
}

/** The streams begin one after the other within a second, so that their tokens are spread over time. */
async function allGaps(ask: Ask): Promise<number[]> {
  const answers = await Promise.all(
    Array.from({ length: streams }, async (_, caller) => {
      await delay((caller * 1000) / streams)
      return ask(caller, { tokens: streamTokens, pace })
    }),
  )
  return answers.flatMap(answer => answer.gaps)
}

function addedRow(what: string, { service, direct }: Compared, most: number): Row {
  return {
    what,
    service: `${rounded(service)} ms`,
    reference: `${rounded(direct)} ms`,
    figure: service - direct,
    unit: 'ms',
    bar: { most },
  }
}

function processorRow(what: string, milliseconds: number): Row {
  return { what, service: `${rounded(milliseconds)} ms`, figure: milliseconds, unit: 'ms', bar: { most: 3 } }
}

function gapRow(what: string, { service, direct }: Compared): Row {
  return {
    what,
    service: `${rounded(service)} ms`,
    reference: `${rounded(direct)} ms`,
    figure: service / direct,
    unit: '×',
    bar: { most: 2 },
  }
}
