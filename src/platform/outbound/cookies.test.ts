import { expect, test } from 'vitest'
import { processorTime } from '#test/support/processor-time.ts'
import { createCookies } from './cookies.ts'

const url = new URL('https://example.com/')

/** What goes back to a site after answers that set these. */
function broughtBack(...lines: string[]): string {
  const cookies = createCookies()
  for (const line of lines) cookies.keep(url, new Headers([['set-cookie', line]]))
  return cookies.for(url)
}

test.each([
  ['by its age', 'a=; Max-Age=0'],
  ['by an age below none', 'a=b; max-age = -1; Expires=Fri, 31 Dec 9999 23:59:59 GMT'],
  ['by the first of all times', 'a=; expires=Thu, 01-Jan-1970 00:00:01 GMT; Path=/'],
  ['by any time that is over', 'a=; Expires=Tue, 12 Oct 1999 00:00:00 GMT'],
])('a cookie is taken back %s', (_how, line) => {
  expect(broughtBack('a=b', 'c=d', line)).toBe('c=d')
})

test.each([
  ['an age', 'a=e; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT'],
  ['a time to come', 'a=e; Expires=Fri, 31 Dec 9999 23:59:59 GMT'],
  ['a time that nobody understands', 'a=e; Expires=soon'],
  ['white space around its parts', ' a = e ; Path=/'],
])('a cookie with %s is kept', (_what, line) => {
  expect(broughtBack('a=b', line)).toBe('a=e')
})

test('a value of much white space takes no time', async () => {
  const value = `x${' '.repeat(16_000)}y`
  const spent = await processorTime(() => broughtBack(...Array<string>(20).fill(`a=${value}`)))
  expect(spent).toBeLessThan(500)
})

test('each origin gets its own', () => {
  const cookies = createCookies()
  cookies.keep(url, new Headers([['set-cookie', 'a=b']]))
  const others = ['http://example.com/', 'https://example.com:8443/', 'https://www.example.com/']
  expect(others.map(other => cookies.for(new URL(other)))).toEqual(['', '', ''])
  expect(cookies.for(new URL('https://example.com/other'))).toBe('a=b')
})
