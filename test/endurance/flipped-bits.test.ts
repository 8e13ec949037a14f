import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { crashRounds, seededRandom } from '../support/endurance.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const agents = '/api/agents'
const environment = { DEV_USER: 'dev@example.com' }
const question = { body: { content: 'Hello' } }
const random = seededRandom(20_261_123)
/** For each round. */
const agentCount = 5

function flipBits(file: string): void {
  const bytes = readFileSync(file)
  for (let flips = 1 + Math.floor(random() * 30); flips > 0; flips -= 1) {
    const at = Math.floor(random() * bytes.length)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8))
  }
  writeFileSync(file, bytes)
}

/** Whatever was hit: the data, or an error that names the file where the damage was noticed. */
async function expectAnswers(server: ServerProcess, id: string): Promise<void> {
  for (const path of ['', '/chat', '/sources', '/sql/schema']) {
    const { status, body } = await server.call('GET', `${agents}/${id}${path}`)
    expect([200, 500]).toContain(status)
    const text = JSON.stringify(body)
    if (text.includes('DATA_DAMAGED')) expect(text).toContain(`agents/${id}/agent.db`)
  }
}

it(`flipped bits harm nobody but whom they hit, and are told where they are noticed (${crashRounds} times)`, async () => {
  const dataDirectory = temporaryDirectory()
  const fileOf = (id: string) => join(dataDirectory, 'agents', id, 'agent.db')
  const ids: string[] = []
  await using first = await startServerProcess({ dataDirectory, environment })
  for (let n = 0; n < agentCount; n += 1) {
    const { body } = await first.call<{ id: string }>('POST', agents, { body: { name: `agent-${n}` } })
    ids.push(body.id)
  }
  for (const id of ['default', ...ids])
    expect((await first.call('POST', `${agents}/${id}/chat`, question)).status).toBe(200)
  await first.stop()
  const platformFile = join(dataDirectory, 'platform.db')
  const good = new Map([platformFile, ...ids.map(fileOf)].map(file => [file, readFileSync(file)]))

  for (let round = 1; round <= crashRounds; round += 1) {
    for (const id of ids) flipBits(fileOf(id))
    const server = await startServerProcess({ dataDirectory, environment })
    for (const id of ids) await expectAnswers(server, id)
    expect((await server.call('GET', `${agents}/default`)).body).toMatchObject({ stats: { messages: 2 } })
    await server.kill()

    flipBits(platformFile)
    const failure = await startServerProcess({ dataDirectory, environment }).then(
      started => started.kill(),
      (error: Error) => error.message,
    )
    // Not every bit matters, and one in a text can't be noticed.
    if (failure !== undefined) expect(failure).toMatch(/exit code 1 .*agentstead could not start: /s)
    for (const [file, bytes] of good) writeFileSync(file, bytes)
  }
  await using last = await startServerProcess({ dataDirectory, environment })
  for (const id of ['default', ...ids])
    expect((await last.call('GET', `${agents}/${id}`)).body).toMatchObject({ stats: { messages: 2 } })
})
