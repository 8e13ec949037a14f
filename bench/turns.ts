/**
 * Processor time of turns that run in the background, beside the same turns without one, and of these beside those of
 * another commit, if BASE_TREE names its tree (a worktree with its packages); and how soon a turn ends that is stopped.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { type Program, startProgram } from './support/program.ts'
import { call, startService } from './support/service.ts'
import { median, percentile } from './support/statistics.ts'
import { printTable, type Row, rounded } from './support/table.ts'

const rounds = 5
const turnsARound = 60
const callers = 30
const stops = 20
const headers = { 'content-type': 'application/json' }

await using model = await startProgram({ parameters: ['bench/support/model-server.ts'] })
const environment = {
  DEV_USER: 'bench@localhost.test',
  DEFAULT_PROVIDER: 'openai-compatible',
  DEFAULT_MODEL: 'fake-model',
  OPENAI_COMPATIBLE_BASE_URL: `${model.address}/v1`,
  OUTBOUND_ALLOW: '127.0.0.1',
}
await using service = await startService({ environment })
const { BASE_TREE } = process.env
await using base = BASE_TREE === undefined ? undefined : await startService({ environment, root: BASE_TREE })

/** Milliseconds of processor time of a turn, round by round, so that all meet the same machine. */
const costs = { plain: [] as number[], background: [] as number[], base: [] as number[] }
const paced = { content: '50 tokens at 50/s', autoRag: false }
for (let round = -1; round < rounds; round += 1) {
  const plain = await costOf(service, paced)
  const background = await costOf(service, { ...paced, background: true })
  const former = base === undefined ? undefined : await costOf(base, paced)
  if (round < 0) continue
  costs.plain.push(plain)
  costs.background.push(background)
  if (former !== undefined) costs.base.push(former)
}
const reference = base === undefined ? costs.plain : costs.base
printTable('turns: processor time', base === undefined ? 'without a background' : `of ${BASE_TREE}`, [
  ...(base === undefined ? [] : [ratioRow('50 tokens, 50 a second', costs.plain, 1.1)]),
  ratioRow('  the same in the background', costs.background, 1.5),
])

const tools = { loop: { code: 'for (;;) {}' }, hang: { method: 'GET', url: `${model.address}/hang` } }
for (const [name, configuration] of Object.entries(tools)) {
  const type = 'code' in configuration ? 'javascript' : 'http'
  const body = JSON.stringify({ name, description: name, type, configuration })
  await call(`${service.address}/api/agents/default/tools`, { method: 'POST', headers, body })
}
printTable('turns that are stopped, until the conversation is free', 'none', [
  await stopRow('while the model speaks', '5000 tokens at 50/s', 'content_delta'),
  await stopRow('while a tool hangs', 'call hang', 'tool_call'),
  await stopRow('while code loops', 'call loop', 'tool_call'),
])

async function costOf(program: Program, body: object): Promise<number> {
  const before = program.processorTime()
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      await delay((caller * 1000) / callers)
      for (let turn = 0; turn < turnsARound / callers; turn += 1) await untilEvent(program, body)
    }),
  )
  return (program.processorTime() - before) / turnsARound
}

/** Reads the stream of a turn until an event of this type, by default to its end, and leaves it open before that. */
async function untilEvent(
  { address }: Program,
  body: object,
  type = 'message_complete',
): Promise<{ turnId: string; rest: Promise<string> }> {
  const response = await fetch(`${address}/api/agents/default/chat`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ ...body, stream: true }),
  })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const read = async (isEnough: () => boolean) => {
    for (;;) {
      if (isEnough()) return text
      const { done, value } = (await reader?.read()) ?? { done: true }
      if (done) return text
      text += value
    }
  }
  await read(() => text.includes(`"type":"${type}"`))
  const [, turnId] = /"turnId":"([^"]+)"/.exec(text) ?? []
  if (!text.includes(`"type":"${type}"`)) throw new Error(`no ${type} came: ${text}`)
  return { turnId: turnId ?? '', rest: read(() => false) }
}

async function stopRow(what: string, content: string, shown: string): Promise<Row> {
  const times: number[] = []
  for (let count = 0; count < stops; count += 1) {
    const { turnId, rest } = await untilEvent(service, { content, autoRag: false }, shown)
    await delay(50)
    const begun = performance.now()
    const stop = `${service.address}/api/agents/default/chat/turns/${turnId}/stop`
    const { status } = await call<{ status: string }>(stop, { method: 'POST' })
    times.push(performance.now() - begun)
    if (status !== 'stopped') throw new Error(`a stop was answered with ${status}`)
    if (!(await rest).includes('message_complete')) throw new Error('a stopped turn did not complete')
  }
  const figure = percentile(times, 0.95)
  return { what, service: `${rounded(median(times))} ms median`, figure, unit: 'ms', bar: { most: 300 } }
}

function ratioRow(what: string, measured: number[], most: number): Row {
  const ratios = measured.map((cost, round) => cost / (reference[round] ?? cost))
  return {
    what,
    service: `${rounded(median(measured))} ms`,
    reference: `${rounded(median(reference))} ms`,
    figure: median(ratios),
    unit: '×',
    bar: { most },
  }
}
