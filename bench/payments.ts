/** What a question costs that is sold: beside a free one, and beside what the facilitator needs by itself. */
import { startFacilitator } from '#test/support/facilitator.ts'
import { newWallet, paymentFor } from '#test/support/x402-buyer.ts'
import { makeDataDirectory } from './support/data-directory.ts'
import type { Program } from './support/program.ts'
import { startService } from './support/service.ts'
import { median } from './support/statistics.ts'
import { printTable, rounded } from './support/table.ts'

const questions = 60
const warmUp = 10

interface Timed {
  milliseconds: number
  response: Response
}

async function ask(service: Program, headers: Record<string, string> = {}): Promise<Timed> {
  const begun = performance.now()
  const response = await fetch(`${service.address}/api/agents/default/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ content: 'Hello' }),
  })
  await response.arrayBuffer()
  return { milliseconds: performance.now() - begun, response }
}

async function offerOf(service: Program) {
  const answer = await fetch(`${service.address}/api/agents/default/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ content: 'Hello' }),
  })
  return { headers: Object.fromEntries(answer.headers), body: await answer.json() }
}

/** Verifying and settling, asked for directly. */
async function askFacilitator(url: string, payment: Record<string, string>): Promise<number> {
  const paymentPayload = JSON.parse(Buffer.from(payment['payment-signature'] ?? '', 'base64').toString())
  const body = JSON.stringify({
    x402Version: 2,
    paymentPayload,
    paymentRequirements: paymentPayload.accepted,
  })
  const begun = performance.now()
  for (const path of ['verify', 'settle'])
    await (
      await fetch(`${url}/${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    ).text()
  return performance.now() - begun
}

await using facilitator = await startFacilitator()
await using service = await startService({
  dataDirectory: makeDataDirectory(),
  environment: facilitator.environment,
})
const free: number[] = []
for (let at = 0; at < warmUp; at += 1) await ask(service)
const beginning = service.processorTime()
for (let at = 0; at < questions; at += 1) free.push((await ask(service)).milliseconds)
const freeCost = (service.processorTime() - beginning) / questions
const resource = { path: '/chat', price: '0.10', currency: 'USDC', network: 'base-sepolia', description: 'x' }
await fetch(`${service.address}/api/agents/default/x402-resources`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(resource),
})
const offer = await offerOf(service)
const wallet = newWallet()
const [paid, alone]: [number[], number[]] = [[], []]
await ask(service, await paymentFor(offer, { wallet }))
const middle = service.processorTime()
for (let at = 0; at < questions; at += 1) {
  const { milliseconds, response } = await ask(service, await paymentFor(offer, { wallet }))
  if (response.status !== 200) throw new Error(`a paid question was answered with ${response.status}`)
  paid.push(milliseconds)
  alone.push(await askFacilitator(facilitator.url, await paymentFor(offer, { wallet })))
}
const paidCost = (service.processorTime() - middle) / questions
const [freeMs, paidMs, aloneMs] = [free, paid, alone].map(times => median(times.slice(warmUp))) as [
  number,
  number,
  number,
]
printTable('payments', 'the facilitator, asked directly', [
  {
    what: 'a paid question, over a free one and the facilitator',
    service: `${rounded(paidMs)} ms, ${rounded(freeMs)} ms free`,
    reference: `${rounded(aloneMs)} ms`,
    figure: paidMs - freeMs - aloneMs,
    unit: 'ms',
    bar: { most: 15 },
  },
  {
    what: '  processor time of the service for it, over a free one',
    service: `${rounded(paidCost)} ms, ${rounded(freeCost)} ms free`,
    figure: paidCost - freeCost,
    unit: 'ms',
  },
])
