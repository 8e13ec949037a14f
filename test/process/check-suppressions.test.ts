import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const script = new URL('../../scripts/check-suppressions.ts', import.meta.url).pathname

function check(files: Record<string, string>) {
  const folder = temporaryDirectory()
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  const { status, stderr } = spawnSync(process.execPath, [script], { cwd: folder, encoding: 'utf8' })
  return { status, stderr }
}

it('passes over files without a suppression, and over what is not ours', () => {
  const foreign = `// biome${'-'}ignore lint: theirs`
  const result = check({
    'src/a.ts': 'const ignored = 1 // ts\n',
    'node_modules/x/y.ts': foreign,
    'console/node_modules/x/y.ts': foreign,
    'data/x.json': foreign,
  })
  expect(result).toEqual({ status: 0, stderr: '' })
})

it.each([
  ['// biome', 'ignore lint/suspicious/noConsole: why'],
  ['// @ts', 'ignore'],
  ['// @ts', 'expect-error'],
  ['// @ts', 'nocheck'],
  ['// eslint', 'disable-next-line'],
  ['/* c8', 'ignore next */'],
  ['/* v8', 'ignore start */'],
])('names the file and line of %s…%s', (start, end) => {
  const separator = start.endsWith('8') ? ' ' : '-'
  const { status, stderr } = check({
    'src/data/a.ts': `const one = 1\n  ${start}${separator}${end}\n`,
    'settings.json': '{}',
  })
  expect(status).toBe(1)
  expect(stderr).toContain(`src/data/a.ts:2: ${start}${separator}${end}`)
})

it('looks into settings too', () => {
  expect(check({ 'tsconfig.json': `{\n // @ts${'-'}nocheck\n}` }).stderr).toContain('tsconfig.json:2')
})
