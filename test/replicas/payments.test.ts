/** One payment by x402 that comes to two processes at once. */
import { expect, it } from 'vitest'
import { makeAgent } from '../support/agents.ts'
import { eventually } from '../support/eventually.ts'
import { startFacilitator } from '../support/facilitator.ts'
import { startGateway } from '../support/gateway.ts'
import { startReplicas } from '../support/replica-set.ts'
import { paymentFor } from '../support/x402-buyer.ts'

it('100 identical payments over two processes are settled and served once', async () => {
  const gateway = await startGateway()
  await using facilitator = await startFacilitator()
  await using replicas = await startReplicas(2, { ...gateway.environment, ...facilitator.environment })
  const headers = await gateway.headers('owner@example.com')
  const path = `/api/agents/${await makeAgent(replicas.at(0), { headers })}`
  const forSale = {
    path: '/chat',
    price: '0.10',
    currency: 'USDC',
    network: 'base-sepolia',
    description: 'x',
  }
  expect(
    await replicas.at(0).call('POST', `${path}/x402-resources`, { headers, body: forSale }),
  ).toMatchObject({
    status: 201,
  })
  const ask = (at: number, payment = {}) =>
    replicas.at(at).call('POST', `${path}/chat`, { headers: payment, body: { content: 'Hello' } })
  // The address in an offer is the one that it was asked at; buyers may leave it out.
  const change = (payment: object) => ({ ...payment, resource: undefined })
  const payment = await paymentFor(await ask(0), { change })
  const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => ask(at, payment)))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(facilitator.settled).toHaveLength(1)
  for (const at of [0, 1]) await eventually(async () => expect((await ask(at, payment)).status).toBe(402))
  const { body } = await replicas
    .at(1)
    .call('GET', `${path}/transactions?state=settled&state=pending`, { headers })
  expect(body).toMatchObject({ total: 1, transactions: [{ state: 'settled', amount: '0.10' }] })
  await gateway.close()
})
