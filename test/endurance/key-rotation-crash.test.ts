import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { crashRounds, seededRandom } from '../support/endurance.ts'
import { startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

interface Made {
  id: string
  key: string
}

it(`kill -9 while 100 rotate a key at once: one key is left, which one of them has (${crashRounds} times)`, async () => {
  const random = seededRandom(20_261_126)
  const dataDirectory = temporaryDirectory()
  const environment = { DEV_USER: 'dev@example.com' }
  let server = await startServerProcess({ dataDirectory, environment })
  const body = { name: 'CI' }
  let current = (await server.call<Made>('POST', '/api/auth/keys', { body })).body
  for (let round = 0; round < crashRounds; round += 1) {
    const rotated: string[] = []
    const sent = Array.from({ length: 100 }, () =>
      server.call<Made>('POST', `/api/auth/keys/${current.id}/rotate`).then(
        ({ status, body: { key } }) => {
          if (status === 200) rotated.push(key)
        },
        // The process has died.
        () => {},
      ),
    )
    await Promise.race([Promise.any(sent), delay(random() * 100)])
    await server.kill()
    await Promise.all(sent)
    server = await startServerProcess({ dataDirectory, environment })
    const works = []
    for (const key of [current.key, ...rotated]) {
      const headers = { authorization: `Bearer ${key}` }
      const { status } = await server.call('GET', '/api/auth/agents', { headers })
      if (status === 200) works.push(key)
      else expect(status).toBe(401)
    }
    // None where the process died between the commit and the answer.
    expect(works.length).toBeLessThanOrEqual(1)
    const { body: one } = await server.call<{ keys: object[] }>('GET', '/api/auth/keys')
    expect(one.keys).toMatchObject([{ id: current.id, state: 'active' }])
    current = (await server.call<Made>('POST', `/api/auth/keys/${current.id}/rotate`)).body
    const headers = { authorization: `Bearer ${current.key}` }
    expect((await server.call('GET', '/api/auth/agents', { headers })).status).toBe(200)
  }
  await server.stop()
})
