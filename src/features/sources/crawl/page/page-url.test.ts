import { describe, expect, test } from 'vitest'
import { isSameOrigin, linkUrl, pageUrl } from './page-url.ts'

const base = 'http://example.com/docs/a.html?x=1'

describe('the address of a page', () => {
  test.each([
    ['HTTP://Example.COM:80/a', 'http://example.com/a'],
    ['https://example.com:443', 'https://example.com/'],
    ['http://example.com:8080/a', 'http://example.com:8080/a'],
    ['b.html#part', 'http://example.com/docs/b.html'],
    ['#part', 'http://example.com/docs/a.html?x=1'],
    ['../a/./b/../c', 'http://example.com/a/c'],
    ['?y=2', 'http://example.com/docs/a.html?y=2'],
    ['/a?', 'http://example.com/a'],
    ['/a/', 'http://example.com/a/'],
    ['/%7Euser/%e4%bd%a0', 'http://example.com/~user/%E4%BD%A0'],
    ['/你', 'http://example.com/%E4%BD%A0'],
    ['/a%2fb', 'http://example.com/a%2Fb'],
    ['/a?b=%3d&c=%41', 'http://example.com/a?b=%3D&c=A'],
    ['//other.example/x', 'http://other.example/x'],
    ['http://xn--bcher-kva.example/', 'http://xn--bcher-kva.example/'],
    ['http://bücher.example/', 'http://xn--bcher-kva.example/'],
  ])('%s is %s', (text, expected) => {
    expect(pageUrl(text, base)).toBe(expected)
  })

  test.each([
    'mailto:a@example.com',
    'javascript:alert(1)',
    'ftp://example.com/',
    'file:///etc/passwd',
    'data:text/html,x',
    'http://user:secret@example.com/',
    'http://',
    'http://[::1',
    `/${'a'.repeat(2_000)}`,
    `/${'你'.repeat(700)}`,
  ])('%s is none', text => {
    expect(pageUrl(text, base)).toBeUndefined()
  })

  test('stays the same when it is read again', () => {
    for (const text of ['/%7Euser', '/a%2fb?c=%3d', '/a?', '/%E4%BD%A0', '/%25zz', '/%zz']) {
      const once = pageUrl(text, base) ?? ''
      expect(pageUrl(once)).toBe(once)
    }
  })
})

describe('the address of a link', () => {
  test.each([
    ['/a;jsessionid=12AB?x=1', 'http://example.com/a?x=1'],
    ['/a?PHPSESSID=12AB', 'http://example.com/a'],
    ['/a?x=1&PHPSESSID=12AB&y=2', 'http://example.com/a?x=1&y=2'],
    ['/sessions?sid=3', 'http://example.com/sessions?sid=3'],
    ['/a?utm_source=news&x=1&utm_campaign=y', 'http://example.com/a?x=1'],
    ['/a?gclid=12AB', 'http://example.com/a'],
    ['/utm_x?circlid=3', 'http://example.com/utm_x?circlid=3'],
  ])('%s is %s, without the session', (href, expected) => {
    expect(linkUrl(href, base)).toBe(expected)
  })
})

test.each([
  ['http://a.example/x', 'http://a.example/y', true],
  ['http://a.example/', 'https://a.example/', false],
  ['http://a.example/', 'http://a.example:8080/', false],
  ['http://a.example/', 'http://www.a.example/', false],
])('%s and %s have one origin: %s', (one, other, expected) => {
  expect(isSameOrigin(one, other)).toBe(expected)
})
