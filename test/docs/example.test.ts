/** The example in docs/add-a-feature.md works as it is printed, and is as small as that document says. */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const root = new URL('../../', import.meta.url).pathname
const guide = readFileSync(join(root, 'docs/add-a-feature.md'), 'utf8')

/** The blocks of one kind, each with the file that it is for. */
function blocksOf(kind: 'ts' | 'diff'): { path: string; text: string }[] {
  return [...guide.matchAll(new RegExp(`^\`\`\`${kind} (\\S+)\\n(.*?)^\`\`\``, 'gms'))].map(
    ([, path = '', text = '']) => ({ path, text }),
  )
}

const files = blocksOf('ts')
const edits = blocksOf('diff')

/** The lines of a block that are there with one of the marks, without these. */
function linesOf(text: string, marks: string): string[] {
  const lines = text.split('\n').filter(line => line !== '' && marks.includes(line.charAt(0)))
  return lines.map(line => line.slice(1))
}

/** A copy of the project with the example in it. */
function applyGuide(): string {
  const folder = temporaryDirectory(afterAll)
  for (const path of ['src', 'test', 'package.json', 'tsconfig.json', 'vitest.config.ts', 'biome.json'])
    cpSync(join(root, path), join(folder, path), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const { path, text } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text, { flag: 'wx' })
  }
  for (const { path, text } of edits) edit(join(folder, path), text)
  return folder
}

function edit(path: string, text: string): void {
  const [before, after] = [' -', ' +'].map(marks => linesOf(text, marks).join('\n'))
  const parts = readFileSync(path, 'utf8').split(`${before}\n`)
  expect(parts, `${path} must have this once: ${before}`).toHaveLength(2)
  writeFileSync(path, parts.join(`${after}\n`))
}

async function run(folder: string, program: string, ...given: string[]): Promise<void> {
  const command = [join('node_modules', program), ...given]
  try {
    await promisify(execFile)(process.execPath, command, { cwd: folder, maxBuffer: 1e8 })
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${command.join(' ')}:\n${stdout}${stderr}`)
  }
}

describe('the example in docs/add-a-feature.md', () => {
  it('is one folder, one file of tables, and a few lines elsewhere', () => {
    const others = [...files, ...edits]
      .map(({ path }) => path)
      .filter(path => !path.startsWith('src/features/notes/'))
    expect(new Set(others)).toEqual(
      new Set([
        'test/spec/additions.ts',
        'src/storage/tables/notes.ts',
        'src/storage/tables.ts',
        'src/compose.ts',
        'test/architecture/boundaries.test.ts',
      ]),
    )
    expect(edits.flatMap(({ text }) => linesOf(text, '-'))).toEqual([])
  })

  it('has at most 150 lines of source', () => {
    const sources = files.filter(({ path }) => path.startsWith('src/') && !path.endsWith('.test.ts'))
    const written = sources.flatMap(({ text }) => text.trimEnd().split('\n'))
    const added = edits
      .filter(({ path }) => path.startsWith('src/'))
      .flatMap(({ text }) => linesOf(text, '+'))
    expect(written.length + added.length).toBeLessThanOrEqual(150)
  })

  describe('in a copy of the project', () => {
    let folder: string
    const paths = files.map(({ path }) => path)

    beforeAll(() => {
      folder = applyGuide()
    })

    it('has our style, and compiles', async () => {
      await run(
        folder,
        '@biomejs/biome/bin/biome',
        'check',
        '--error-on-warnings',
        '--vcs-enabled=false',
        ...paths,
      )
      // The setup of PostgreSQL tells the types of what it provides.
      const compiled = ['src/app.ts', 'test/support/postgres/global-setup.ts', ...paths]
      const project = { extends: './tsconfig.json', files: compiled, include: [] }
      writeFileSync(join(folder, 'tsconfig.example.json'), JSON.stringify(project))
      await run(folder, 'typescript/bin/tsc', '--noEmit', '--project', 'tsconfig.example.json')
    })

    it.each([
      ['does what its test says', 'src/features/notes/notes.test.ts'],
      ['keeps the boundaries', 'test/architecture/boundaries.test.ts'],
      ['has the routes that are specified', 'test/spec/conformance.test.ts'],
    ])('%s', async (_title, file) => {
      await run(folder, 'vitest/vitest.mjs', 'run', '--project', 'unit', file)
    })
  })
})
