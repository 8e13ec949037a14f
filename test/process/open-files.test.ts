import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** Sends JSON over the agent's only connection, which stays open. */
async function send(agent: Agent, url: string, body?: unknown) {
  const headers = { 'content-type': 'application/json' }
  const sent = request(url, { agent, headers, method: body === undefined ? 'GET' : 'POST' })
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  const [response] = await once(sent, 'response')
  return { status: response.statusCode, body: await text(response) }
}

/** Opens connections until the service can't take another one, and returns them. */
async function occupy({ url }: ServerProcess): Promise<Agent[]> {
  const connections: Agent[] = []
  onTestFinished(() => connections.forEach(connection => void connection.destroy()))
  for (;;) {
    const connection = new Agent({ keepAlive: true, maxSockets: 1 })
    const isTaken = await send(connection, `${url}/healthz`).then(
      () => true,
      () => false,
    )
    if (!isTaken) return connections
    connections.push(connection)
  }
}

it('SQL fails while no process can be started for it, and runs once there are files for one', async () => {
  const dataDirectory = temporaryDirectory()
  await using server = await startServerProcess({ dataDirectory, openFiles: 150 })
  expect((await server.call('GET', '/api/agents/default')).status).toBe(200)
  const connections = await occupy(server)
  const execute = (connection: Agent) =>
    send(connection, `${server.url}/api/agents/default/sql/execute`, { query: 'select 1' })
  const [first = new Agent()] = connections
  // More often than there are processes.
  for (let time = 0; time < 5; time += 1)
    expect(await execute(first)).toMatchObject({ status: 500, body: expect.stringContaining('SQL_FAILED') })
  for (const connection of connections.slice(1)) connection.destroy()
  await expect.poll(async () => (await execute(first)).status).toBe(200)
})
