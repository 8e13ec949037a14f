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

test('a word is asked for as it is where more texts hold it than its stem, such as those without stems', async () => {
  const { addSource, replace, search } = await setSearchStage()
  await addSource('manual')
  const whole = 'Der Preis für Strom ist mit dem Jahr gestiegen.'
  const others = ['Preisen Tabelle Anton', 'Preisen Tabelle Berta']
  await replace('manual', [whole, ...others, ...['One', 'Two', 'Three', 'Four'].map(word => `${word} dogs.`)])
  const found = await search('Was ist mit den Preisen?')
  expect(found.slice(0, 3).map(({ content }) => content)).toEqual([...others, whole])
})
