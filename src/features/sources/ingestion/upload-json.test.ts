import { expect, it } from 'vitest'
import type { SearchResult } from '#features/knowledge/knowledge.schema.ts'
import { testApp } from '#test/support/build-app.ts'
import { uploadAndProcess } from '#test/support/upload.ts'

it('what a JSON file writes as escapes, and what stands behind one, is found by its words', async () => {
  const app = await testApp()
  const written = String.raw`{"place": "M\u00fcnchen", "hours": "Open:\nMonday nine\nTuesday ten\r\n\tHolidays closed"}`
  const wanted = await uploadAndProcess(app, { name: 'office.json', content: written })
  await uploadAndProcess(app, { name: 'other.json', content: '{"place": "Munchhausen", "hours": "Sunday"}' })
  for (const word of ['München', 'Monday', 'Tuesday', 'Holidays']) {
    const path = `/api/agents/default/sources/search?min_score=0.5&query=${encodeURIComponent(word)}`
    const { results } = (await app.call<{ results: SearchResult[] }>('GET', path)).body
    expect(results.map(({ source_id }) => [word, source_id])).toEqual([[word, wanted]])
    expect(results[0]?.content).toContain(word)
  }
})
