import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestApp } from '#test/support/build-app.ts'
import { buildApp } from '#test/support/build-app.ts'
import { legacyTexts } from '#test/support/legacy-texts.ts'
import { uploadAndProcess } from '#test/support/upload.ts'
import type { SearchResult } from './sources.schema.ts'

let app: TestApp

beforeAll(async () => {
  app = await buildApp()
})

afterAll(() => app.close())

/** What is found of one file. */
async function found(id: string, query: string): Promise<string[]> {
  const path = `/api/agents/default/sources/search?source_id=${id}&query=${encodeURIComponent(query)}`
  return (await app.call<{ results: SearchResult[] }>('GET', path)).body.results.map(({ content }) => content)
}

describe('a file that was written before UTF-8', () => {
  it.each(legacyTexts)('is read in $encoding', async ({ text, word, bytes }) => {
    const id = await uploadAndProcess(app, { name: 'lighthouse.txt', content: bytes })
    expect(await found(id, word)).toEqual([text])
  })

  it.each(legacyTexts)('is read in $encoding as a table and as Markdown', async ({ text, word, bytes }) => {
    const table = Buffer.concat([Buffer.from('id;note\n1;'), bytes, Buffer.from('\n')])
    const csv = await uploadAndProcess(app, { name: 'lighthouse.csv', content: table })
    expect(await found(csv, word)).toEqual([expect.stringContaining(text)])
    const section = Buffer.concat([Buffer.from('# Notes\n\n'), bytes, Buffer.from('\n')])
    const md = await uploadAndProcess(app, { name: 'lighthouse.md', content: section })
    expect(await found(md, word)).toEqual([expect.stringContaining(text)])
  })
})
