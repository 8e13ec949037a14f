import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { startProgram } from '#test/support/child-process.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import { makeTemporaryFolder, removeAbandonedFolders, removeTemporaryFolder } from './temporary-folder.ts'

const program = new URL('../../test/support/programs/hold-temporary-folder.ts', import.meta.url)

test('folders of killed processes are removed, and no others', async () => {
  const parent = temporaryDirectory()
  const prefix = join(parent, 'made-')
  // A folder without a lock, and a lock that is a link to something of value.
  mkdirSync(`${prefix}by-others`)
  writeFileSync(join(parent, 'value'), 'of value')
  symlinkSync(join(parent, 'value'), `${prefix}link.lock`)
  const others = ['made-by-others', 'made-link.lock', 'value']

  const own = await makeTemporaryFolder(prefix)
  const [dying, living] = [startProgram(program, prefix), startProgram(program, prefix)]
  const [dead, alive] = [await dying.line(), await living.line()]
  await dying.kill()
  await removeAbandonedFolders(prefix)
  const kept = [own, alive].flatMap(path => [basename(path), `${basename(path)}.lock`])
  expect(readdirSync(parent).toSorted()).toEqual([...others, ...kept].toSorted())
  expect(kept).not.toContain(basename(dead))

  await living.kill()
  await removeTemporaryFolder(own)
  await removeAbandonedFolders(prefix)
  expect(readdirSync(parent).toSorted()).toEqual(others)
})
