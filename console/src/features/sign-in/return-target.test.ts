import { expect, it } from 'vitest'
import { returnTarget } from './return-target.ts'

const origin = 'https://agents.example'

it.each([
  ['/a/default/chat?c=1', '/a/default/chat?c=1'],
  ['/a/x/settings#model', '/a/x/settings#model'],
  ['', '/'],
  ['a/default', '/'],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['/\t/evil.example', '/'],
  ['/.//evil.example', '/'],
  ['https://evil.example/', '/'],
  ['https://agents.example/a', '/'],
  ['javascript:alert(1)', '/'],
  ['/a/../b', '/b'],
  [`/a?q=${'x'.repeat(1995)}`, `/a?q=${'x'.repeat(1995)}`],
  [`/a?q=${'x'.repeat(1996)}`, '/'],
])('return_to=%s leads to %s', (wanted, target) => {
  expect(returnTarget(`?return_to=${encodeURIComponent(wanted)}`, origin)).toBe(target)
})

it('without return_to it is the start', () => {
  expect(returnTarget('', origin)).toBe('/')
})
