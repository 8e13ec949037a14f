import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { readCsv, storeCsv } from './read-csv.ts'

async function cellsOf(content: Buffer | string): Promise<string[][]> {
  await using file = await storeCsv(Readable.from([Buffer.from(content as string)]))
  const rows: string[][] = []
  for await (const { cells } of readCsv(file)) rows.push(cells)
  return rows
}

it('a long file may be given up at its first row', async () => {
  const [row] = await (async () => {
    await using file = await storeCsv(Readable.from([Buffer.from('a,b\n'.repeat(1_000_000))]))
    for await (const { cells } of readCsv(file)) return [cells]
    return []
  })()
  expect(row).toEqual(['a', 'b'])
  // An error that nobody takes comes a little later, and would end the process.
  for (let turn = 0; turn < 10; turn += 1) await turnOfTheLoop()
})

const folder = join(process.env.REAL_FIXTURES ?? '', 'contacts')

interface PapaCase {
  description: string
  input: string
  config: Record<string, unknown>
  expected: { data: string[][]; errors: { code: string }[] }
}

/** None without the folder: tests that are skipped are collected all the same. */
function papaCases(): PapaCase[] {
  if (process.env.REAL_FIXTURES === undefined) return []
  return JSON.parse(readFileSync(join(folder, 'papaparse-core-cases.json'), 'utf8'))
}

describe.skipIf(process.env.REAL_FIXTURES === undefined)('CSV files of others (needs REAL_FIXTURES)', () => {
  it('of csv-spectrum are read as it says', async () => {
    const names = (await readdir(join(folder, 'csv-spectrum'))).filter(name => name.endsWith('.csv'))
    expect(names.length).toBeGreaterThan(10)
    for (const name of names) {
      const [headers = [], ...rows] = await cellsOf(await readFile(join(folder, 'csv-spectrum', name)))
      const found = rows.map(cells => Object.fromEntries(headers.map((header, at) => [header, cells[at]])))
      // Of this file, the two versions have different telephone numbers.
      if (name === 'location_coordinates.csv') continue
      const json = await readFile(join(folder, 'csv-spectrum', name.replace('.csv', '.json')), 'utf8')
      expect({ name, found }).toEqual({ name, found: [JSON.parse(json)].flat() })
    }
  })

  /** Without options that a file can't name: comments, a number of rows, headers that are renamed. */
  const cases = papaCases().filter(
    ({ config }) => !['comments', 'preview', 'header'].some(option => option in config),
  )

  it.each(cases.filter(({ expected }) => expected.errors.length === 0))(
    'of Papa Parse are read as it says: $description',
    async ({ input, expected }) => {
      const rows = expected.data.filter(cells => cells.length > 1 || cells[0] !== '')
      expect(await cellsOf(input)).toEqual(rows)
    },
  )
})
