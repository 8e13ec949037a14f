import { expect, it } from 'vitest'
import { processorTime } from '#test/support/processor-time.ts'
import { createCookies } from './cookies.ts'

const url = new URL('https://site.example/')

/** What goes back to the site after it has set these. */
function broughtBack(...lines: string[]): string {
  const cookies = createCookies()
  cookies.keep(url, new Headers(lines.map(line => ['set-cookie', line])))
  return cookies.for(url)
}

it('are the names and values, without what is said of them', () => {
  expect(broughtBack(' seen = 1 ; Path=/; HttpOnly', 'to=a=b', 'empty=')).toBe('seen=1; to=a=b; empty=')
  expect(broughtBack('=nameless', 'without a value', 'two words=1', '; Path=/')).toBe('')
})

it('are read in no time, however the blanks are spread in them', async () => {
  const line = `a=b${' '.repeat(50_000)}c`
  expect(await processorTime(() => expect(broughtBack(line)).toBe(''))).toBeLessThan(200)
})
