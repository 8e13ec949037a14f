import { expect, test } from 'vitest'
import { setSearchStage } from '#test/support/search-stage.ts'
import { withAgentDatabase } from '../indexing/agent-database.ts'
import { rankings } from './rankings.ts'

const texts = ['The warranty covers defects.', '黑豹队的防守只丢了分。', 'Shipping is free.']

test.each([
  ['hardly count where the index knows every word', 'warranty defects', 0.125, 0.125],
  ['count the more, the more of the words are unknown', 'warranty deffects', 0.3, 0.9],
  ['count as much as the text where it knows no word', 'waranty deffects', 1, 1],
  ['do not count for pairs of characters, known or not', '防守大学', 0, 0],
])('the built-in vectors %s', async (_, text, least, most) => {
  const { path, addSource, replace } = await setSearchStage()
  await addSource('manual')
  await replace('manual', texts)
  const { vectors } = await withAgentDatabase(path, { readOnly: true }, ({ db, engine }) =>
    db.transaction().execute(transaction => rankings(transaction, engine, { text, limit: 10 })),
  )
  const [{ weight } = { weight: -1 }] = vectors
  expect(weight).toBeGreaterThanOrEqual(least)
  expect(weight).toBeLessThanOrEqual(most)
})

test.each([
  ['of no others where the text has found enough', 'warranty', false],
  ['of others, too, where words are misspelt', 'warranty unwaranted', true],
])('the built-in vectors are those %s', async (_, text, areOthers) => {
  const { path, addSource, replace } = await setSearchStage()
  await addSource('manual')
  const holding = Array.from(
    { length: 100 },
    (_, index) => `The warranty covers the wheels, doors and windows of car ${index}.`,
  )
  await replace('manual', [...holding, 'Unwarranted warrants'])
  const ranked = await withAgentDatabase(path, { readOnly: true }, ({ db, engine }) =>
    db.transaction().execute(transaction => rankings(transaction, engine, { text, limit: 10 })),
  )
  const found = ranked.vectors.flatMap(ranking => ranking.found.map(({ sequence }) => sequence))
  const byText = new Set(ranked.text.map(({ sequence }) => sequence))
  expect(byText.size).toBe(100)
  expect(found.length).toBeGreaterThan(0)
  expect(found.some(sequence => !byText.has(sequence))).toBe(areOthers)
})
