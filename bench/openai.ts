/**
 * Processor time of a turn for a client of OpenAI's API, beside that of the same turn by `POST chat`, by turns. The latter also
 * stores its question and answer.
 */
import { startProgram } from './support/program.ts'
import { startService } from './support/service.ts'
import { median } from './support/statistics.ts'
import { printTable, type Row, rounded } from './support/table.ts'
import { readTokens } from './support/token-stream.ts'

const tokens = 50
const turns = 200
const rounds = 7

await using model = await startProgram({ parameters: ['bench/support/model-server.ts'] })
await using service = await startService({
  environment: {
    DEFAULT_PROVIDER: 'openai-compatible',
    DEFAULT_MODEL: 'fake-model',
    OPENAI_COMPATIBLE_BASE_URL: `${model.address}/v1`,
  },
})
const content = `${tokens} tokens`
const chat = {
  address: `${service.address}/api/agents/default/chat`,
  body: JSON.stringify({ content, stream: true }),
  tokenMark: '"type":"content_delta"',
  endMark: '"type":"message_complete"',
}
const completion = {
  address: `${service.address}/api/openai/v1/chat/completions`,
  body: JSON.stringify({ model: 'default', messages: [{ role: 'user', content }], stream: true }),
  tokenMark: '"delta":{"content":"',
  endMark: '[DONE]',
}
const response = {
  address: `${service.address}/api/openai/v1/responses`,
  body: JSON.stringify({ model: 'default', input: content, stream: true }),
  tokenMark: 'event: response.output_text.delta',
  endMark: 'event: response.completed',
}
type Stream = typeof chat

const costs = new Map<Stream, number[]>([chat, completion, response].map(stream => [stream, []]))
for (let round = -1; round < rounds; round += 1)
  for (const [stream, measured] of costs) {
    const cost = await processorTime(stream)
    if (round >= 0) measured.push(cost)
  }
printTable('the API of OpenAI', 'the same turn by POST chat', [
  row('chat/completions, a turn of 50 tokens in pieces', completion),
  row('responses, the same', response),
])

/** Milliseconds of a turn. */
async function processorTime(stream: Stream): Promise<number> {
  const before = service.processorTime()
  for (let turn = 0; turn < turns; turn += 1) await readTokens(stream, tokens)
  return (service.processorTime() - before) / turns
}

function row(what: string, stream: Stream): Row {
  const [own = [], reference = []] = [costs.get(stream), costs.get(chat)]
  const figure = median(own.map((cost, round) => cost / (reference[round] ?? cost)))
  const [service, other] = [own, reference].map(times => `${rounded(median(times))} ms`) as [string, string]
  return { what, service, reference: other, figure, unit: '×', bar: { most: 1.1 } }
}
