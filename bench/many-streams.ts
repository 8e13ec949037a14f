/**
 * More streams than one process can carry: how many it refuses and how soon, how fluent the others are, and what memory it
 * holds after their end. The gaps between tokens are compared with those of the model server, called directly.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { startProgram } from './support/program.ts'
import { call, startService } from './support/service.ts'
import { percentile } from './support/statistics.ts'
import { printTable, rounded } from './support/table.ts'
import { readTokens, type TokenTimes } from './support/token-stream.ts'

/** `BENCH_STREAMS` says otherwise. A third of them is asked for besides, while they flow. */
const streams = Number(process.env.BENCH_STREAMS ?? 1500)
const more = Math.round(streams / 3)
const pace = 20
const tokens = pace * 60
/** The first ones begin within this time, the others after it, as many in a second: in milliseconds. */
const beginMs = 30_000
const restMs = 60_000
/** An agent answers at most 50 conversations at a time. */
const callersPerAgent = 40

/** Answered, or refused after so many milliseconds. */
type Outcome = TokenTimes | { refusedAfter: number }

const content = `${tokens} tokens at ${pace}/s`

await using model = await startProgram({ parameters: ['bench/support/model-server.ts'] })
await using service = await startService({
  environment: {
    DEV_USER: 'bench@localhost.test',
    DEFAULT_PROVIDER: 'openai-compatible',
    DEFAULT_MODEL: 'fake-model',
    OPENAI_COMPATIBLE_BASE_URL: `${model.address}/v1`,
  },
})
const addresses = await makeAgents()
await delay(3000)
const idle = service.residentMemory()
let most = idle
const watch = setInterval(() => {
  most = Math.max(most, service.residentMemory())
}, 200)
const outcomes = await oneByOne(streams + more, askService)
clearInterval(watch)
await delay(restMs)
const held = service.residentMemory()
const answered = outcomes.filter(outcome => 'gaps' in outcome)
const refusals = outcomes.flatMap(outcome => ('refusedAfter' in outcome ? [outcome.refusedAfter] : []))
const direct = await oneByOne(answered.length, askModel)

const [gap, directGap] = [gapOf(answered), gapOf(direct)]
printTable('many streams', 'the model server, called directly', [
  {
    what: `gap of tokens, ${answered.length} streams of ${pace}/s, p99`,
    service: `${rounded(gap)} ms`,
    reference: `${rounded(directGap)} ms`,
    figure: gap / directGap,
    unit: '×',
    bar: { most: 3 },
  },
  {
    what: `refusal of ${refusals.length} of ${streams + more}, p99`,
    service: '',
    figure: refusals.length === 0 ? 0 : percentile(refusals, 0.99),
    unit: 'ms',
    bar: { most: 100 },
  },
  {
    what: `memory ${restMs / 1000} s after their end, ${rounded(most)} MB at most`,
    service: `${rounded(held)} MB`,
    reference: `${rounded(idle)} MB when idle`,
    figure: held / idle,
    unit: '×',
    bar: { most: 1.5 },
  },
])

async function makeAgents(): Promise<string[]> {
  const headers = { 'content-type': 'application/json' }
  const made: string[] = []
  while (made.length * callersPerAgent < streams + more) {
    const body = JSON.stringify({ name: `agent-${made.length}` })
    const { id } = await call<{ id: string }>(`${service.address}/api/agents`, {
      method: 'POST',
      headers,
      body,
    })
    made.push(`${service.address}/api/agents/${id}/chat`)
  }
  return made
}

/** The callers begin one after the other, and go on beside each other. */
function oneByOne<Result>(count: number, ask: (caller: number) => Promise<Result>): Promise<Result[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, caller) => {
      await delay((caller * beginMs) / streams)
      return ask(caller)
    }),
  )
}

async function askService(caller: number): Promise<Outcome> {
  const begun = performance.now()
  const body = JSON.stringify({ content, stream: true })
  const marks = { tokenMark: '"type":"content_delta"', endMark: '"type":"message_complete"' }
  const address = addresses[Math.floor(caller / callersPerAgent)] ?? ''
  return readTokens({ address, body, ...marks }, tokens).catch(error => {
    if (!String(error).includes('answered 503')) throw error
    return { refusedAfter: performance.now() - begun }
  })
}

function askModel(): Promise<TokenTimes> {
  const body = JSON.stringify({ model: 'fake-model', messages: [{ role: 'user', content }], stream: true })
  const address = `${model.address}/v1/chat/completions`
  return readTokens({ address, body, tokenMark: '"content":"', endMark: '[DONE]' }, tokens)
}

/** Milliseconds that only one gap in a hundred exceeds, all streams taken together. */
function gapOf(answers: TokenTimes[]): number {
  return percentile(
    answers.flatMap(({ gaps }) => gaps),
    0.99,
  )
}
