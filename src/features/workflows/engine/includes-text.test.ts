import { expect, it } from 'vitest'
import { seededRandom } from '#test/support/endurance.ts'
import { includesText } from './includes-text.ts'

it('finds in texts what the search of the language finds', async () => {
  const random = seededRandom(1)
  const text = (length: number) => Array.from({ length }, () => (random() < 0.7 ? 'a' : 'b')).join('')
  let found = 0
  for (let round = 0; round < 2_000; round += 1) {
    const [whole, part] = [text(random() * 40), text(random() * 8)]
    expect(await includesText(whole, part), `${part} in ${whole}`).toBe(whole.includes(part))
    found += Number(whole.includes(part))
  }
  expect(found).toBeGreaterThan(200)
  expect(found).toBeLessThan(1_800)
})

it('reads each character a few times at most', async () => {
  const part = `${'a'.repeat(200)}b${'a'.repeat(100_000)}`
  expect(await includesText('a'.repeat(300_000), part)).toBe(false)
  expect(await includesText(`${'a'.repeat(300_000)}${part}`, part)).toBe(true)
})
