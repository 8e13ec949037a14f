import { randomBytes } from 'node:crypto'
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import { createLog } from '../logging/log.ts'
import { decodeKey, loadKey } from './encryption-key.ts'

function setUp() {
  const folder = temporaryDirectory()
  const lines: string[] = []
  const log = createLog('info', { write: line => lines.push(line) })
  const path = join(folder, 'encryption.key')
  const load = (configured?: string, isNewData = true) => loadKey({ configured, path, isNewData, log })
  return { folder, path, lines, load }
}

test('a configured key is used, and no file is made', async () => {
  const { folder, load } = setUp()
  const key = randomBytes(32)
  expect(await load(key.toString('base64'))).toEqual(key)
  expect(readdirSync(folder)).toEqual([])
})

test('without one, a key is generated that only the owner can read, and found again', async () => {
  const { folder, path, load, lines } = setUp()
  const key = await load()
  expect(key).toHaveLength(32)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(['encryption.key'])
  expect(await load()).toEqual(key)
  expect(lines.join('')).not.toContain(readFileSync(path, 'utf8').trim())
})

test('what a process left that died while writing the key is no obstacle', async () => {
  const { folder, path, load } = setUp()
  writeFileSync(`${path}.new`, 'half a ke', { mode: 0o644 })
  const key = await load()
  expect(readdirSync(folder)).toEqual(['encryption.key'])
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(await load()).toEqual(key)
})

test('data that was written with a key gets no other one', async () => {
  const { folder, load, lines } = setUp()
  const key = randomBytes(32)
  await expect(load(undefined, false)).rejects.toThrow('The encryption key is missing')
  expect([readdirSync(folder), lines]).toEqual([[], []])
  expect(await load(key.toString('base64'), false)).toEqual(key)
})

test('a key file that others can read is used with a warning', async () => {
  const { path, load, lines } = setUp()
  const key = await load()
  chmodSync(path, 0o644)
  lines.length = 0
  expect(await load()).toEqual(key)
  expect(lines.join('')).toContain('chmod 600')
})

test.each(['', 'short', randomBytes(31).toString('base64'), `${randomBytes(32).toString('base64')}!`])(
  'a text that is not 32 bytes in base64 is refused by the name of its setting',
  text => {
    expect(() => decodeKey(text, 'ENCRYPTION_KEY')).toThrow(/^ENCRYPTION_KEY: must be 32 bytes in base64/)
  },
)

test('a damaged key file is refused by its path, not replaced', async () => {
  const { path, load } = setUp()
  writeFileSync(path, 'damaged', { mode: 0o600 })
  await expect(load()).rejects.toThrow(`${path}: must be 32 bytes`)
  expect(readFileSync(path, 'utf8')).toBe('damaged')
})
