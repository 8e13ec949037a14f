/** The payment provider on loopback, as far as agents use it: forms in, JSON out, idempotency keys remembered. */
import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ProviderCall {
  method: string
  path: string
  key: string | undefined
  authorization: string | undefined
  form: Record<string, string>
}

type Json = Record<string, unknown>

/** What happens to a call instead of an answer: `lose` and `drop` break the connection, after it was done or before. */
export type Mishap = { status: number; error: Json } | { status: number; text: string } | 'drop' | 'lose'

export interface PaymentProvider extends AsyncDisposable {
  url: string
  calls: ProviderCall[]
  /** What was made, by id. */
  charges: Map<string, Json>
  cards: Json[]
  /** Happens to the next calls, in this order. */
  next(...mishaps: Mishap[]): void
}

export async function startPaymentProvider(): Promise<PaymentProvider> {
  const calls: ProviderCall[] = []
  const mishaps: Mishap[] = []
  const charges = new Map<string, Json>()
  const cards: Json[] = []
  const answered = new Map<string, { form: string; answer: Json }>()
  let made = 0

  function metadataIn(form: Record<string, string>): Record<string, string> {
    const entries = Object.entries(form).filter(([name]) => name.startsWith('metadata['))
    return Object.fromEntries(entries.map(([name, value]) => [name.slice(9, -1), value]))
  }

  function charge({ form }: ProviderCall) {
    if (form.source === 'card_missing')
      return refusal(404, { code: 'resource_missing', message: 'No such source' })
    const [id, amount, metadata] = [`ch_${made}`, Number(form.amount), metadataIn(form)]
    const common = { id, object: 'charge', amount, currency: form.currency, status: 'succeeded' }
    const paid = { payment_intent: null, captured: true, amount_captured: amount, amount_refunded: 0 }
    charges.set(id, { ...common, ...paid, metadata })
    return ok(charges.get(id) ?? {})
  }

  function refund({ form }: ProviderCall) {
    const charged = charges.get(form.charge ?? '')
    if (charged === undefined) return refusal(404, { code: 'resource_missing', message: 'No such charge' })
    const left = Number(charged.amount) - Number(charged.amount_refunded)
    const amount = form.amount === undefined ? left : Number(form.amount)
    if (amount > left || left === 0)
      return refusal(400, { code: 'charge_already_refunded', message: 'Too much' })
    charged.amount_refunded = Number(charged.amount_refunded) + amount
    const { currency } = charged
    const done = { id: `re_${made}`, object: 'refund', amount, currency, status: 'succeeded' }
    return ok({ ...done, charge: { ...charged } })
  }

  function listCards(path: string) {
    const after = new URL(path, 'http://x').searchParams.get('starting_after')
    const start = after === null ? 0 : cards.findIndex(({ id }) => id === after) + 1
    const data = cards.slice(start, start + 100)
    return ok({ object: 'list', url: '/v1/issuing/cards', data, has_more: start + 100 < cards.length })
  }

  function perform(call: ProviderCall): { status: number; body: Json } {
    made += 1
    const [id, metadata] = [`cs_${made}`, metadataIn(call.form)]
    if (call.path === '/v1/checkout/sessions')
      return ok({ id, object: 'checkout.session', url: `https://pay.test/${id}`, status: 'open', metadata })
    if (call.path === '/v1/charges') return charge(call)
    if (call.path === '/v1/refunds') return refund(call)
    if (call.path.startsWith('/v1/issuing/cards')) return listCards(call.path)
    return refusal(404, { code: 'unknown', message: call.path })
  }

  /** A call is performed once for each key. */
  function once(call: ProviderCall, text: string): { status: number; body: Json } {
    const before = call.key === undefined ? undefined : answered.get(call.key)
    if (before === undefined) {
      const performed = perform(call)
      if (call.key !== undefined && performed.status === 200)
        answered.set(call.key, { form: text, answer: performed.body })
      return performed
    }
    const misuse = { type: 'idempotency_error', message: 'This key was used with other parameters.' }
    return before.form === text ? ok(before.answer) : refusal(400, misuse)
  }

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const piece of incoming.setEncoding('utf8')) text += piece
    const form = Object.fromEntries(new URLSearchParams(text))
    const key = incoming.headers['idempotency-key'] as string | undefined
    const { authorization } = incoming.headers
    const call = { method: incoming.method ?? '', path: incoming.url ?? '', key, authorization, form }
    calls.push(call)
    const mishap = mishaps.shift()
    const send = (status: number, body: string) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(body)
    if (typeof mishap === 'object') {
      send(mishap.status, 'text' in mishap ? mishap.text : JSON.stringify({ error: mishap.error }))
      return
    }
    const reply = mishap === 'drop' ? undefined : once(call, text)
    if (reply === undefined || mishap === 'lose') response.destroy()
    else send(reply.status, JSON.stringify(reply.body))
  }

  const server = createServer((incoming, response) => {
    answer(incoming, response).catch(error => response.destroy(error))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    charges,
    cards,
    next: (...others) => void mishaps.push(...others),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

function ok(body: Json) {
  return { status: 200, body }
}

function refusal(status: number, error: Json) {
  return { status, body: { error: { type: 'invalid_request_error', ...error } } }
}

/** The header with which the provider signs a body; `at` is in milliseconds. */
export function signatureOf(body: string, secret: string, at = Date.now()): string {
  const time = Math.floor(at / 1000)
  return `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`
}
