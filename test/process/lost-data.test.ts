import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runProgram } from '../support/run-program.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const mainFile = new URL('../../src/main.ts', import.meta.url)
const agents = '/api/agents'
const environment = { DEV_USER: 'dev@example.com', LOG_LEVEL: 'fatal' }
const question = { body: { content: 'Hello' } }

function start(dataDirectory: string, others: Record<string, string> = {}) {
  return startServerProcess({ dataDirectory, environment: { ...environment, ...others } })
}

const messagesOf = (server: ServerProcess, id: string) =>
  server.call<{ stats: { messages: number }; error: { code: string; message: string } }>(
    'GET',
    `${agents}/${id}`,
  )

const damages: Record<string, (file: string) => void> = {
  missing: file => rmSync(file),
  empty: file => truncateSync(file, 0),
  truncated: file => truncateSync(file, statSync(file).size - 8192),
  cut: file => truncateSync(file, statSync(file).size - 5000),
  foreign: file => writeFileSync(file, Buffer.alloc(65_536, 'x')),
}

/** Data with two messages of the agent `default`, and of another for each of these names, of a service that has ended. */
async function usedData(names: readonly string[] = ['other']) {
  const dataDirectory = temporaryDirectory()
  await using server = await start(dataDirectory)
  const others: { name: string; id: string; file: string }[] = []
  for (const name of names) {
    const { id } = (await server.call<{ id: string }>('POST', agents, { body: { name } })).body
    others.push({ name, id, file: join(dataDirectory, 'agents', id, 'agent.db') })
  }
  for (const id of ['default', ...others.map(other => other.id)])
    await server.call('POST', `${agents}/${id}/chat`, question)
  await server.stop()
  const [{ id, file } = { id: '', file: '' }] = others
  return { dataDirectory, others, id, file }
}

it('the file of an agent that is lost or damaged is an error that names it, and harms nobody else', async () => {
  const { dataDirectory, others } = await usedData(Object.keys(damages))
  const copies = temporaryDirectory()
  for (const { name, id, file } of others) {
    cpSync(file, join(copies, id))
    damages[name]?.(file)
  }
  await using server = await start(dataDirectory)
  for (const { name, id, file } of others) {
    const { status, body } = await messagesOf(server, id)
    expect([name, status, body.error.code]).toEqual([name, 500, 'DATA_DAMAGED'])
    expect(body.error.message).toContain(`agents/${id}/agent.db`)
    expect(JSON.stringify(body)).not.toContain(dataDirectory)
    const lineOf = () =>
      server
        .output()
        .split('\n')
        .find(one => one.includes(`"path":"${agents}/${id}"`))
    await expect.poll(lineOf).toContain(`${file} is `)
  }
  expect((await messagesOf(server, 'default')).body).toMatchObject({ stats: { messages: 2 } })
  await server.stop()
  // Nothing was made in their place.
  for (const { id, file } of others) cpSync(join(copies, id), file)
  await using again = await start(dataDirectory)
  for (const { id } of others)
    expect((await messagesOf(again, id)).body).toMatchObject({ stats: { messages: 2 } })
})

it('an agent whose file is lost can be deleted', async () => {
  const { dataDirectory, id, file } = await usedData()
  rmSync(file)
  await using server = await start(dataDirectory)
  expect(server.output()).toContain(`"files":[${JSON.stringify(file)}]`)
  expect((await server.call('DELETE', `${agents}/${id}`)).status).toBe(200)
  expect((await messagesOf(server, id)).status).toBe(404)
})

it('a lost file is replaced by a new one where that is accepted', async () => {
  const { dataDirectory, id, file } = await usedData()
  rmSync(file)
  await using server = await start(dataDirectory, { ACCEPT_LOST_DATA: 'true' })
  expect((await messagesOf(server, id)).body).toMatchObject({ stats: { messages: 0 } })
})

describe('the platform database', () => {
  const run = (dataDirectory: string, others = {}) =>
    runProgram(mainFile, { PORT: '0', DATA_DIR: dataDirectory, LOG_LEVEL: 'warn', ...others })

  it.each([
    ['missing', (file: string) => rmSync(file)],
    ['empty', (file: string) => truncateSync(file, 0)],
  ])('if %s, is not made anew beside agents unless that is accepted', async (_kind, damage) => {
    const { dataDirectory } = await usedData([])
    const file = join(dataDirectory, 'platform.db')
    damage(file)
    const { code, stderr } = await run(dataDirectory)
    expect([code, stderr]).toEqual([1, expect.stringContaining('ACCEPT_LOST_DATA=true')])
    expect(stderr).toContain(file)
    expect(existsSync(file) ? statSync(file).size : 0).toBe(0)
    await using server = await start(dataDirectory, { ACCEPT_LOST_DATA: 'true' })
    expect((await messagesOf(server, 'default')).body).toMatchObject({ stats: { messages: 2 } })
  })

  it.each([
    ['truncated', (file: string) => truncateSync(file, statSync(file).size - 4096)],
    ['another file', (file: string) => writeFileSync(file, Buffer.alloc(65_536, 'x'))],
    ['damaged within', (file: string) => writeFileSync(file, readFileSync(file).fill(0xff, 8192, 12_288))],
  ])('if %s, is named by what prevents the start', async (_kind, damage) => {
    const { dataDirectory } = await usedData([])
    const file = join(dataDirectory, 'platform.db')
    damage(file)
    const { code, stderr } = await run(dataDirectory)
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${file} is damaged`)])
  })
})

it('a lost agent is not copied to another place as an empty one', async () => {
  const { dataDirectory, id, file } = await usedData()
  rmSync(file)
  const target = join(temporaryDirectory(), 'copy')
  mkdirSync(target)
  const command = new URL('../../src/migrate-data.ts', import.meta.url)
  const { code, stderr } = await runProgram(command, {}, '--from', dataDirectory, '--to', target)
  expect([code, stderr]).toEqual([1, expect.stringContaining(`agents/${id}/agent.db`)])
  expect(existsSync(file)).toBe(false)
})
