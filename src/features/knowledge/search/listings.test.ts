import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { makePdf } from '#test/support/documents.ts'
import { uploadAndProcess } from '#test/support/upload.ts'
import type { SearchResult } from '../knowledge.schema.ts'
import { isListing } from './listings.ts'

const chapters = [
  'Unpacking the kettle',
  'Descaling the kettle',
  'Changing the filter',
  'Cleaning the lid',
  'Disposal of the kettle',
]
const each = (write: (chapter: string, at: number) => string) => chapters.map(write).join('\n')
const at = (content: string, page: number | null = 1) => ({
  content,
  metadata: { page } as SearchResult['metadata'],
})

describe('a listing is', () => {
  it.each([
    ['dots with blanks', each((chapter, no) => `${no + 1} ${chapter} . . . . . . . . ${no * 3 + 2}`)],
    ['dots without', each((chapter, no) => `${chapter}.............${no + 2}`)],
    ['ellipses', each((chapter, no) => `${chapter} …………… ${no + 2}`)],
    ['Roman numbers', each((chapter, no) => `${chapter} ...... ${['i', 'ii', 'iv', 'v', 'ix'][no]}`)],
    ['a title and columns', `Contents\n${each((chapter, no) => `${chapter}\t${no * 4 + 3}`)}`],
    ['numbered headings in columns', each((chapter, no) => `${no + 1}.2 ${chapter}\t${no * 4 + 3}`)],
    ['a title in Japanese', '目次\n第一章 はじめに 3\n第二章 準備 7\n第三章 掃除 12\n第四章 保証 15'],
    ['an index', 'abrasion, 12\nboiling, 3, 14–16\ncable, 9f.\nfilter, 7, 8\nlid, see cover\nkettle, 1'],
    ['an index in two columns', 'Abschluss, 3\tFaser, 12\nAktion, 7\tGrenze, 1, 9\nBasis, 22\tHülle, 30'],
  ])('%s', (_name, content) => expect(isListing(at(content))).toBe(true))
})

describe('no listing is', () => {
  it.each([
    [
      'prose',
      'The kettle is cleaned twice a year.\nUse vinegar, but no soap.\nIt lasts for 10\nyears or 12.',
    ],
    ['prices', 'Kettle\t39\nFilter\t9\nLid\t12\nCable\t14\nBase\t20'],
    ['sorted figures', 'Berlin 12\nHamburg 15\nMunich 18\nCologne 22\nFrankfurt 30'],
    ['years', 'Opened 1999\nMoved 2004\nSold 2010\nClosed 2020'],
    ['references', 'A. Bee, Nature, 2014\nC. Dee, Science, 2016\nE. Eff, Cell, 2019\nG. Aitch, PNAS, 2020'],
    ['a thought that trails off', 'Well ...\nPerhaps ...\nNo ...\nYes ...\n'],
  ])('%s', (_name, content) => expect(isListing(at(content))).toBe(false))

  it('a row of a file without pages', () =>
    expect(isListing(at('kettle, 3\nlid, 4\nfilter, 9\ncable, 1', null))).toBe(false))
})

describe('a search', () => {
  let app: TestApp
  beforeAll(async () => {
    app = await buildApp()
  })
  afterAll(() => app.close())

  it('ranks the page before the table of contents and the index that name it', async () => {
    const contents = `Contents\n${each((chapter, no) => `${no + 1} ${chapter} . . . . . . . . . . ${no + 2}`)}`
    const pages = chapters.map(
      chapter =>
        `${chapter}\nThis is done with a soft cloth while the thing is cold, as the ${chapter.split(' ')[0]} needs time.`,
    )
    const index =
      'Changing, 4\nCleaning, 5\nDescaling, 3\nDescaling of the kettle, 3\nDisposal, 6\nUnpacking, 2'
    const id = await uploadAndProcess(app, {
      name: 'kettle.pdf',
      content: makePdf([contents, ...pages, index]),
    })
    for (const [no, chapter] of chapters.entries()) {
      const path = `/api/agents/default/sources/search?source_id=${id}&query=${encodeURIComponent(chapter)}`
      const { results } = (await app.call<{ results: SearchResult[] }>('GET', path)).body
      expect(results[0]?.metadata.page).toBe(no + 2)
      expect(results.map(({ metadata }) => metadata.page)).toContain(1)
      const scores = results.map(({ score }) => score)
      expect(scores).toEqual(scores.toSorted((one, other) => other - one))
      const [first] = (await app.call<{ results: SearchResult[] }>('GET', `${path}&limit=1`)).body.results
      expect(first?.metadata.page).toBe(no + 2)
    }
  })
})
