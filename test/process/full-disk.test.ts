import { expect, it } from 'vitest'
import { errorRow } from '../spec/row.ts'
import { startServerProcess } from '../support/server-process.ts'
import { mountSmallDisk, type SmallDisk } from '../support/small-disk.ts'

const agents = '/api/agents'
const chat = `${agents}/default/chat`
const environment = { DEV_USER: 'dev@example.com' }
const question = { body: { content: 'Hello' } }

function onDisk({ path, within }: SmallDisk) {
  return startServerProcess({ dataDirectory: path, within, environment })
}

it(`a full disk ${errorRow('shared', 507)}: reads and deletions go on, also after a restart, and all else once there is space`, async context => {
  const disk = await mountSmallDisk(24)
  if (disk === undefined) return context.skip('this system lets nobody mount a disk')
  await using server = await onDisk(disk)
  const ids: string[] = []
  for (const name of ['one', 'two', 'three']) {
    const created = await server.call<{ id: string }>('POST', agents, { body: { name } })
    ids.push(created.body.id)
    expect((await server.call('POST', `${agents}/${created.body.id}/chat`, question)).status).toBe(200)
  }
  expect((await server.call('POST', chat, question)).status).toBe(200)

  disk.fill()
  const refused = await server.call('POST', chat, question)
  expect(refused).toMatchObject({ status: 507, body: { code: 'STORAGE_FULL' } })
  expect((await server.call('GET', '/readyz')).status).toBe(503)
  expect((await server.call('GET', `${agents}/default`)).body).toMatchObject({ stats: { messages: 2 } })
  for (let n = 0; n < 5; n += 1) expect((await server.call('POST', chat, question)).status).toBe(507)
  expect((await server.call('DELETE', `${agents}/${ids[0]}`)).status).toBe(200)

  disk.fill()
  await server.kill()
  disk.fill()
  await using again = await onDisk(disk)
  expect((await again.call('GET', '/readyz')).status).toBe(503)
  for (const id of ['default', ids[1]])
    expect((await again.call('GET', `${agents}/${id}`)).body).toMatchObject({ stats: { messages: 2 } })
  expect((await again.call('POST', chat, question)).status).toBe(507)
  disk.fill()
  expect((await again.call('DELETE', `${agents}/${ids[1]}`)).status).toBe(200)

  disk.empty()
  await expect.poll(async () => (await again.call('GET', '/readyz')).status).toBe(200)
  expect((await again.call('POST', chat, question)).status).toBe(200)
})

it('a disk that is read-only prevents the start, with a sentence, and a start on it later finds all', async context => {
  const disk = await mountSmallDisk(24)
  if (disk === undefined) return context.skip('this system lets nobody mount a disk')
  await using server = await onDisk(disk)
  expect((await server.call('POST', chat, question)).status).toBe(200)
  await server.stop()
  disk.remount('ro')
  await expect(onDisk(disk)).rejects.toThrow(
    /exit code 1 .*The data directory \S+ can be neither made nor written/s,
  )
  disk.remount('rw')
  await using again = await onDisk(disk)
  expect((await again.call('GET', `${agents}/default`)).body).toMatchObject({ stats: { messages: 2 } })
})
