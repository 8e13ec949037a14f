import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { startModelServer } from '../support/model-server.ts'
import { runProgram } from '../support/run-program.ts'
import { startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

// Several processes start and end in one test.
vi.setConfig({ testTimeout: 180_000 })

const rotateFile = new URL('../../src/rotate-key.ts', import.meta.url)
const newKey = () => randomBytes(32).toString('base64')

function rotate(dataDirectory: string, previous: string, current: string) {
  const keys = { ENCRYPTION_KEY_PREVIOUS: previous, ENCRYPTION_KEY: current }
  return runProgram(rotateFile, { DATA_DIR: dataDirectory, ...keys })
}

it('changes the key under running agents: their credentials work on, and the old key is refused', async () => {
  await using models = await startModelServer(() => ({ json: { object: 'list', data: [] } }))
  const dataDirectory = temporaryDirectory()
  const start = (key?: string) =>
    startServerProcess({
      dataDirectory,
      environment: { OUTBOUND_ALLOW: '127.0.0.1', ...(key === undefined ? {} : { ENCRYPTION_KEY: key }) },
    })
  const keysSent = () => models.requests.map(({ headers }) => headers.authorization)

  await using before = await start()
  const settings = {
    llm_provider: 'openai-compatible',
    llm_base_url: `${models.url}/v1`,
    openai_compatible_api_key: 'sk-of-the-agent',
    telegram_bot_token: 'a-token',
  }
  expect((await before.call('PUT', '/api/agents/default/settings', { body: settings })).status).toBe(200)
  await before.call('GET', '/api/agents/default/chat/models')
  expect(keysSent()).toEqual(['Bearer sk-of-the-agent'])
  await before.stop()

  const previous = readFileSync(join(dataDirectory, 'encryption.key'), 'utf8').trim()
  const current = newKey()
  const rotated = await rotate(dataDirectory, previous, current)
  expect(rotated.stderr).toBe('')
  expect(rotated.code).toBe(0)
  expect(rotated.stdout).toContain('Credentials sealed with the new key: 2; with it already: 0.')
  expect(rotated.stdout).toContain(`${join(dataDirectory, 'encryption.key')} holds the new key`)
  for (const key of [previous, current]) expect(rotated.stdout).not.toContain(key)

  await expect(start(previous)).rejects.toThrow('The encryption key is not the one')

  // The file holds the new key, too.
  await using after = await start()
  await after.call('GET', '/api/agents/default/chat/models')
  expect(keysSent()).toEqual(['Bearer sk-of-the-agent', 'Bearer sk-of-the-agent'])
  await after.stop()

  const again = await rotate(dataDirectory, previous, current)
  expect(again.stdout).toContain('Credentials sealed with the new key: 0; with it already: 2.')

  const file = join(dataDirectory, 'encryption.key')
  const { code, stdout } = await runProgram(rotateFile, { DATA_DIR: dataDirectory })
  expect([code, stdout]).toEqual([0, expect.stringContaining('Credentials sealed with the new key: 2')])
  const generated = readFileSync(file, 'utf8').trim()
  expect(generated).not.toBe(current)
  expect(readdirSync(dataDirectory).filter(name => name.startsWith('encryption.key'))).toEqual([
    'encryption.key',
  ])
  expect(statSync(file).mode & 0o777).toBe(0o600)

  // As a rotation leaves the files that dies after its transaction.
  writeFileSync(`${file}.next`, `${generated}\n`, { mode: 0o600 })
  writeFileSync(file, `${current}\n`)
  await using last = await start()
  await last.call('GET', '/api/agents/default/chat/models')
  expect(keysSent()).toHaveLength(3)
  expect(readFileSync(file, 'utf8').trim()).toBe(generated)
})

it('waits for no server: while one runs it is refused, and the data keeps its key', async () => {
  const dataDirectory = temporaryDirectory()
  const key = newKey()
  await using server = await startServerProcess({ dataDirectory, environment: { ENCRYPTION_KEY: key } })
  const { code, stdout, stderr } = await rotate(dataDirectory, key, newKey())
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(
    /^The key was not changed: The data directory .* is in use by another process\. Stop/,
  )
  await server.stop()
  await using again = await startServerProcess({ dataDirectory, environment: { ENCRYPTION_KEY: key } })
  expect((await again.call('GET', '/readyz')).status).toBe(200)
})

it('is refused with a sentence where the keys are not those of the data', async () => {
  const dataDirectory = temporaryDirectory()
  const key = newKey()
  await using server = await startServerProcess({ dataDirectory, environment: { ENCRYPTION_KEY: key } })
  await server.stop()
  const wrong = await rotate(dataDirectory, newKey(), newKey())
  expect([wrong.code, wrong.stdout]).toEqual([1, ''])
  expect(wrong.stderr).toMatch(/^The key was not changed: Neither the current nor the previous .*\n$/)
  const same = await rotate(dataDirectory, key, key)
  expect([same.code, same.stderr]).toEqual([
    1,
    'The key was not changed: ENCRYPTION_KEY and ENCRYPTION_KEY_PREVIOUS are the same key.\n',
  ])
})

it('says which variables it needs', async () => {
  const dataDirectory = join(temporaryDirectory(), 'data')
  for (const keys of [{}, { ENCRYPTION_KEY: newKey() }, { ENCRYPTION_KEY_PREVIOUS: newKey() }] as Record<
    string,
    string
  >[]) {
    const { code, stderr } = await runProgram(rotateFile, { DATA_DIR: dataDirectory, ...keys })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^The key was not changed: set ENCRYPTION_KEY to the new key/)
  }
  const { code, stderr } = await runProgram(rotateFile, { DATA_DIR: dataDirectory, ENCRYPTION_KEY: 'short' })
  expect([code, stderr]).toEqual([
    2,
    'The configuration is wrong:\n  - ENCRYPTION_KEY must be 32 bytes in base64.\n',
  ])
  expect(existsSync(dataDirectory)).toBe(false)
})

it('says so where there is no data', async () => {
  const dataDirectory = temporaryDirectory()
  const { code, stderr } = await rotate(dataDirectory, newKey(), newKey())
  expect(code).toBe(1)
  expect(stderr).toContain(`there is no data in ${dataDirectory}. Set DATA_DIR`)
  expect(existsSync(join(dataDirectory, 'platform.db'))).toBe(false)
})
