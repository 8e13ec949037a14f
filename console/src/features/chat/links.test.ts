import { expect, it } from 'vitest'
import { decodeReferences, hostsOf, safeAddress } from './links.ts'

it.each([
  'https://example.com/a?b=c#d',
  'http://example.com:8080/',
  'mailto:ada@example.com',
  'HTTPS://EXAMPLE.com/',
])('a link leads to %s', href => {
  expect(safeAddress(href)?.href.toLowerCase()).toBe(href.toLowerCase())
})

it.each([
  'javascript:alert(1)',
  ' JaVaScRiPt:alert(1)',
  'java\nscript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x',
  'file:///etc/passwd',
  'blob:https://example.com/x',
  'ftp://example.com/',
  'https://ada:secret@example.com/',
  'https://paypal.com@evil.example/',
  '/api/agents',
  '//example.com/x',
  '#top',
  'https://',
  '',
])('a link never leads to %j', href => {
  expect(safeAddress(href)).toBeUndefined()
})

it('hosts are those of the addresses that are some', () => {
  const addresses = [
    'https://a.example/x',
    'https://a.example/y',
    'http://b.example:81/',
    'no',
    undefined,
    null,
  ]
  expect([...hostsOf(addresses)]).toEqual(['a.example', 'b.example:81'])
})

it.each([
  ['a &amp; b &lt;i&gt;', 'a & b <i>'],
  ['&#60;script&#x3E;', '<script>'],
  ['&#x1F600; &nbsp;&hellip;', '😀 \u00a0…'],
  ['&unknown; &#0; &#x110000; & &amp', '&unknown; &#0; &#x110000; & &amp'],
  ['&amp;lt;', '&lt;'],
])('%j reads %j', (text, decoded) => {
  expect(decodeReferences(text)).toBe(decoded)
})
