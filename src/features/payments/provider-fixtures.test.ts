import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { testApp } from '#test/support/build-app.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { signatureOf } from '#test/support/payment-provider.ts'

const fixtures = process.env.REAL_FIXTURES ?? ''

describe.skipIf(fixtures === '')('real shapes of the provider (needs REAL_FIXTURES)', () => {
  const read = (name: string) => readFile(join(fixtures, 'payments', name), 'utf8')

  interface Vectors {
    secret: string
    body_file: string
    clock_to_use: number
    vectors: { name: string; header: string; valid: boolean | string }[]
  }

  async function stage() {
    const { secret, clock_to_use, body_file, vectors } = JSON.parse(await read('signatures.json')) as Vectors
    const clock = manualClock(new Date(clock_to_use * 1000).toISOString())
    const environment = { DEV_USER: 'dev@example.com', PROVIDER_WEBHOOK_SECRET: secret }
    const app = await testApp({ clock, environment })
    const path = `/api/agents/${await makeAgent(app)}`
    const send = (payload: string, header = signatureOf(payload, secret, clock.now())) =>
      app.call('POST', `${path}/provider/webhook`, {
        payload,
        headers: { 'content-type': 'application/json', 'provider-signature': header },
      })
    const transactions = async () => (await app.call('GET', `${path}/transactions?sort=reference`)).body
    return { vectors, body: await read(body_file), send, transactions }
  }

  it('signatures are judged as they should be', async () => {
    const { vectors, body, send } = await stage()
    expect(vectors.length).toBeGreaterThan(10)
    for (const { name, header, valid } of vectors)
      expect({ name, status: (await send(body, header)).status }).toEqual({
        name,
        status: valid === true ? 200 : 401,
      })
  })

  it('events are read, new and old', async () => {
    const { send, transactions } = await stage()
    for (const name of [
      'checkout.session.completed.payment',
      'checkout.session.completed.setup',
      'charge.succeeded.2025',
      'UNKNOWN-plan.created',
    ])
      expect({ name, status: (await send(await read(`events/${name}.json`))).status }).toEqual({
        name,
        status: 200,
      })
    // Its id is that of the first one, of another account.
    const old = (await read('events/charge.succeeded.json')).replace('evt_00000000000000', 'evt_old')
    expect((await send(old)).status).toBe(200)
    expect(await transactions()).toMatchObject({
      total: 3,
      transactions: [
        { amount: '10.00', reference: 'ch_00000000000000' },
        { amount: '19.99', reference: 'ch_1DevCharge00000001' },
        { amount: '250.00', reference: 'pi_00000000000000', from: 'example@example.com' },
      ],
    })
    expect(await send(await read('events/issuing_authorization.request.json'))).toMatchObject({
      status: 200,
      body: { approved: false },
    })
  })
})
