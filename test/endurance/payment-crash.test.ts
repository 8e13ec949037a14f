import { expect, it } from 'vitest'
import { makeAgent } from '../support/agents.ts'
import { startChatModel } from '../support/chat-model.ts'
import { isFullEndurance } from '../support/endurance.ts'
import { eventually } from '../support/eventually.ts'
import { startFacilitator } from '../support/facilitator.ts'
import { startGateway } from '../support/gateway.ts'
import { openaiText } from '../support/model-server.ts'
import { startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { paymentFor } from '../support/x402-buyer.ts'

const steps = ['verify', 'settle', 'answer', 'turn'] as const
const rounds = isFullEndurance ? 20 : steps.length

it(`kill -9 at every step of a sale: paid once, answered once, never asked to pay anew (${rounds} times)`, async () => {
  const gateway = await startGateway()
  await using facilitator = await startFacilitator()
  await using model = await startChatModel()
  const dataDirectory = temporaryDirectory()
  const environment = { ...gateway.environment, ...facilitator.environment, ...model.environment }
  const start = () => startServerProcess({ dataDirectory, environment })
  facilitator.remembers = true
  const headers = await gateway.headers('owner@example.com')
  let server = await start()
  const path = `/api/agents/${await makeAgent(server, { headers })}`
  const forSale = {
    path: '/chat',
    price: '0.10',
    currency: 'USDC',
    network: 'base-sepolia',
    description: 'x',
  }
  await server.call('POST', `${path}/x402-resources`, { headers, body: forSale })
  const ask = (payment = {}) =>
    server.call('POST', `${path}/chat`, { headers: payment, body: { content: 'Hello' } })

  for (let round = 0; round < rounds; round += 1) {
    const step = steps[round % steps.length]
    const change = (payment: object) => ({ ...payment, resource: undefined })
    const payment = await paymentFor(await ask(), { change })
    const kill = async () => {
      facilitator.before = () => {}
      await server.kill()
    }
    facilitator.before = now => (now === step ? kill() : undefined)
    if (step === 'turn')
      model.next(async () => {
        await kill()
        return { stream: openaiText('Never heard.') }
      })
    await expect(ask(payment)).rejects.toThrow()
    server = await start()
    const statuses: number[] = []
    await eventually(async () => {
      statuses.push((await ask(payment)).status)
      expect(statuses.at(-1)).toBe(200)
    })
    expect(statuses, `after a crash at ${step}`).not.toContain(402)
    await eventually(async () => expect((await ask(payment)).status).toBe(402))
    expect(facilitator.settled).toHaveLength(round + 1)
    const all = await server.call('GET', `${path}/transactions?state=settled&state=pending`, { headers })
    expect(all.body).toMatchObject({ total: round + 1 })
    const settled = await server.call('GET', `${path}/transactions`, { headers })
    expect(settled.body).toMatchObject({ total: round + 1 })
  }
  await server.stop()
  await gateway.close()
})
