import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startProgram } from '#test/support/child-process.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import { openDataDirectory } from './data-directory.ts'

const holder = new URL('../../../../test/support/programs/hold-data-directory.ts', import.meta.url)

async function open(path: string) {
  const directory = await openDataDirectory(path)
  onTestFinished(() => directory.close())
  return directory
}

test('the folder is made for its owner only, with the folders above it', async () => {
  const path = join(temporaryDirectory(), 'some', 'data')
  await open(path)
  expect(statSync(path).mode & 0o777).toBe(0o700)
})

test('a second opening is refused by the name of the folder, until the first has closed', async () => {
  const path = temporaryDirectory()
  const first = await open(path)
  await expect(openDataDirectory(path)).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining(`The data directory ${path} is in use by another process.`),
  })
  first.close()
  await open(path)
})

test.each([
  ['is a file', '.', /data directory .*notes\.txt is a file, or lies in one\. Set DATA_DIR/],
  ['lies in a file', 'data', /is a file, or lies in one\. Set DATA_DIR/],
])('a path that %s is refused with what to do', async (_, below, problem) => {
  const file = join(temporaryDirectory(), 'notes.txt')
  writeFileSync(file, 'mine')
  await expect(openDataDirectory(join(file, below))).rejects.toThrow(problem)
  expect(readFileSync(file, 'utf8')).toBe('mine')
})

test.runIf(existsSync('/proc/self'))(
  'a path where no folder can be made is refused with what to do',
  async () => {
    const problem = /\/proc\/some\/data can be neither made nor written\. Set DATA_DIR/
    await expect(openDataDirectory('/proc/some/data')).rejects.toThrow(problem)
  },
)

test('a folder in which nothing can be opened is refused with what to do', async () => {
  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'lock.db'))
  const problem = /can be neither made nor written\. Set DATA_DIR to a folder of its own\. \(unable to open/
  await expect(openDataDirectory(folder)).rejects.toThrow(problem)
})

test('a folder whose lock is something else is refused with what to do', async () => {
  const folder = temporaryDirectory()
  const file = join(folder, 'lock.db')
  writeFileSync(file, 'mine'.repeat(1024))
  const problem = /can be neither made nor written\. Set DATA_DIR to a folder .*\(file is not a database/
  await expect(openDataDirectory(folder)).rejects.toThrow(problem)
  expect(readFileSync(file, 'utf8')).toBe('mine'.repeat(1024))
})

test('another process is kept out, and its death by kill -9 frees the folder', async () => {
  const path = temporaryDirectory()
  const program = startProgram(holder, path)
  expect(await program.line()).toBe('held')
  await expect(openDataDirectory(path)).rejects.toMatchObject({ code: 'CONFLICT' })
  await program.kill()
  await open(path)
})

test('an agent has a folder of its own, which goes with all that is in it', async () => {
  const path = temporaryDirectory()
  const directory = await open(path)
  const first = await directory.prepareAgent('default')
  await directory.prepareAgent('0a1b')
  expect(first).toEqual({
    database: join(path, 'agents/default/agent.db'),
    files: join(path, 'agents/default/files'),
  })
  writeFileSync(join(first.files, 'upload'), 'content')
  await directory.removeAgent('default')
  await directory.removeAgent('default')
  expect(readdirSync(join(path, 'agents'))).toEqual(['0a1b'])
})

test.each([
  '',
  '.',
  '..',
  '../x',
  'a/b',
  'a\\b',
  'a\0b',
  '/etc',
  'a.b',
  'A',
  '-a',
  'ä',
  `a\n`,
  'a'.repeat(65),
])('what is no agent id never becomes a path: %j', async id => {
  const path = temporaryDirectory()
  const directory = await open(path)
  await expect(directory.prepareAgent(id)).rejects.toThrow('not an agent id')
  await expect(directory.removeAgent(id)).rejects.toThrow('not an agent id')
  expect(readdirSync(path)).not.toContain('agents')
})
