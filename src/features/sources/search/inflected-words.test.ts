import { expect, test } from 'vitest'
import { setSearchStage } from '#test/support/search-stage.ts'

const texts = [
  'Die Preise für Strom steigen mit dem Jahr.',
  'Der Hund schläft unter dem Tisch und der Stuhl ist leer.',
  'Tabelle Preisen Strom 2026',
  'The prices of power rise.',
]

test.each([
  ['Wie ist der Preis für Strom?', texts[0]],
  ['Was ist mit den Hunden?', texts[1]],
  ['Wo sind die Stühle?', undefined],
  ['Preise', texts[0]],
  ['Stuhl', texts[1]],
  ['Was steht in der Tabelle?', texts[2]],
  ['price', texts[3]],
])('%j finds %j', async (query, expected) => {
  const { addSource, replace, search } = await setSearchStage()
  await addSource('manual')
  await replace('manual', texts)
  const [first] = await search(query, { minScore: 0.3 })
  expect(first?.content).toBe(expected)
})
