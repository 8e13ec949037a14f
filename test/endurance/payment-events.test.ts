import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { Transaction } from '#features/payments/ledger/ledger.schema.ts'
import { makeAgent } from '../support/agents.ts'
import { isFullEndurance, scaled, seededRandom } from '../support/endurance.ts'
import { signatureOf } from '../support/payment-provider.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const secret = 'whsec_endurance'
const payments = scaled(2_000)
const kills = isFullEndurance ? 10 : 2
const decimals: Record<string, number> = { jpy: 0, usd: 2, eur: 2, kwd: 3 }

interface Event {
  id: string
  type: string
  data: { object: object }
}

/** What the provider tells of one payment, in order: some are paid on a page, some go back in parts or as a whole. */
function story(n: number, random: () => number): Event[] {
  const pick = <Value>(values: readonly Value[]): Value =>
    values[Math.floor(random() * values.length)] as Value
  const currency = pick(Object.keys(decimals))
  const amount = 1 + Math.floor(random() * 1_000_000)
  const [payment_intent, id] = [random() < 0.8 ? `pi_${n}` : null, `ch_${n}`]
  const charge = {
    id,
    payment_intent,
    amount,
    amount_captured: amount,
    currency,
    captured: true,
    metadata: {},
  }
  const told = (type: string, object: object, part = '') => ({
    id: `evt_${n}_${type}${part}`,
    type,
    data: { object },
  })
  const session = {
    id: `cs_${n}`,
    mode: 'payment',
    payment_status: 'paid',
    payment_intent,
    amount_total: amount,
    currency,
  }
  const page = payment_intent === null || random() < 0.4 ? [] : [told('checkout.session.completed', session)]
  const back =
    random() < 0.3
      ? [Math.ceil(amount * random()), ...(random() < 0.5 ? [amount] : [])].toSorted((a, b) => a - b)
      : []
  const refunds = back.map((amount_refunded, part) =>
    told('charge.refunded', { ...charge, amount_refunded }, `_${part}`),
  )
  return [...page, told('charge.succeeded', { ...charge, amount_refunded: 0 }), ...refunds]
}

function shuffled<Value>(values: readonly Value[], random: () => number): Value[] {
  return values
    .map(value => ({ value, key: random() }))
    .toSorted((one, other) => one.key - other.key)
    .map(({ value }) => value)
}

type Call = ServerProcess['call']

async function ledgerOf(call: Call, path: string): Promise<Transaction[]> {
  const all: Transaction[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const query: string = `state=pending&state=failed&state=settled&state=refunded&sort=reference&limit=1000&cursor=${cursor}`
    const { body } = await call<{ transactions: Transaction[]; meta: { next_cursor: string | null } }>(
      'GET',
      `${path}/transactions?${query}`,
    )
    all.push(...body.transactions)
    cursor = body.meta.next_cursor
  }
  return all
}

/** What does not depend on when a message came. */
function facts(ledger: readonly Transaction[]) {
  return ledger.map(({ amount, currency, reference, state, refunded, type, source }) =>
    [reference, amount, currency, state, refunded, type, source].join(' '),
  )
}

/** Exact sums of settled amounts, by currency. */
function sumsOf(ledger: readonly Transaction[]): Record<string, string> {
  const sums: Record<string, bigint> = {}
  for (const { amount, currency, state } of ledger)
    if (state === 'settled') sums[currency] = (sums[currency] ?? 0n) + BigInt(amount.replace('.', ''))
  const write = (currency: string, sum: bigint) => {
    const places = decimals[currency.toLowerCase()] ?? 2
    const digits = String(sum).padStart(places + 1, '0')
    return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`
  }
  return Object.fromEntries(Object.entries(sums).map(([currency, sum]) => [currency, write(currency, sum)]))
}

it(`events in any order, repeated, with kill -9 in between (${kills} times) end in the same ledger`, async () => {
  const random = seededRandom(20_261_124)
  const stories = Array.from({ length: payments }, (_, n) => story(n, random))
  const inOrder = stories.flat()
  const repeated = inOrder.filter(() => random() < 0.5)
  const mixed = shuffled([...inOrder, ...repeated], random)
  const dataDirectory = temporaryDirectory()
  const environment = { DEV_USER: 'dev@example.com', PROVIDER_WEBHOOK_SECRET: secret }
  const start = () => startServerProcess({ dataDirectory, environment })
  let server = await start()
  const [calm, rough] = [await makeAgent(server), await makeAgent(server)].map(id => `/api/agents/${id}`)
  const send = async (path: string | undefined, event: Event): Promise<void> => {
    const signed = { 'provider-signature': signatureOf(JSON.stringify(event), secret) }
    const answer = await server
      .call('POST', `${path}/provider/webhook`, { headers: signed, body: event })
      .catch(() => undefined)
    // As the provider does with whatever is not taken.
    if (answer?.status === 200) return
    await delay(20)
    await send(path, event)
  }
  for (const event of inOrder) await send(calm, event)
  const killing = (async () => {
    for (let kill = 0; kill < kills; kill += 1) {
      await delay(200 + random() * 800)
      await server.kill()
      server = await start()
    }
  })()
  const senders = Array.from({ length: 8 }, (_, lane) => mixed.filter((_event, at) => at % 8 === lane))
  await Promise.all(
    senders.map(async events => {
      for (const event of events) await send(rough, event)
    }),
  )
  await killing
  for (const event of shuffled(inOrder, random).slice(0, 50)) await send(rough, event)
  const ledgers = await Promise.all([calm, rough].map(path => ledgerOf(server.call, path ?? '')))
  const [expected = [], found = []] = ledgers
  expect(expected).toHaveLength(payments)
  expect(facts(found)).toEqual(facts(expected))
  const { body } = await server.call<{ summary: { currency: string; amount: string }[] }>(
    'GET',
    `${rough}/transactions/summary`,
  )
  expect(Object.fromEntries(body.summary.map(({ currency, amount }) => [currency, amount]))).toEqual(
    sumsOf(found),
  )
  await server.stop()
})
