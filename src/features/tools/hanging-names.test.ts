import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { testApp } from '#test/support/build-app.ts'
import { useNameServer } from '#test/support/name-server.ts'

it('an agent whose tools name hosts that nobody answers for leaves look-ups to the others', async () => {
  const server = createServer((_request, response) => response.end('here')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  const asked = await useNameServer({ 'here.test': '127.0.0.1' })
  const app = await testApp({ environment: { DEV_USER: 'dev@example.com', OUTBOUND_ALLOW: '127.0.0.0/8' } })

  async function makeTool(agentId: string, name: string, url: string): Promise<string> {
    const path = `/api/agents/${agentId}/tools`
    const body = { name, type: 'http', description: name, configuration: { url, method: 'GET' } }
    const made = await app.call<{ data: { id: string } }>('POST', path, { body })
    expect(made).toMatchObject({ status: 201 })
    return `${path}/${made.body.data.id}/test`
  }
  const test = (tool: string) => app.call('POST', tool, { body: { arguments: {} } })

  const attacker = await makeAgent(app)
  const hanging: string[] = []
  for (let number = 0; number < 30; number += 1)
    hanging.push(await makeTool(attacker, `far-${number}`, `http://name-${number}.silent.test/`))
  const { port } = server.address() as AddressInfo
  const neighbour = await makeTool(await makeAgent(app), 'near', `http://here.test:${port}/`)
  let ended = 0
  const attempts = hanging.map(tool => test(tool).then(() => (ended += 1)))
  await expect.poll(() => asked.size).toBe(16)
  expect(JSON.stringify((await test(neighbour)).body)).toContain('here')
  expect([ended, asked.size]).toEqual([0, 16 + 1])
  await Promise.all(attempts)
})
