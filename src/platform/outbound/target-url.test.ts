import { expect, it } from 'vitest'
import { parseTarget } from './target-url.ts'

it.each([
  ['https://example.com/a?b#c', 'https://example.com/a?b#c'],
  ['  http://example.com\n', 'http://example.com/'],
  ['HTTP://EXAMPLE.com:80/x', 'http://example.com/x'],
  ['http://2130706433/', 'http://127.0.0.1/'],
  ['http://0x7f.1/', 'http://127.0.0.1/'],
  ['http://127%2e0%2e0%2e1/', 'http://127.0.0.1/'],
  ['http://１２７.０.０.１/', 'http://127.0.0.1/'],
  ['http://[::FFFF:127.0.0.1]/', 'http://[::ffff:7f00:1]/'],
  ['http:///example.com/', 'http://example.com/'],
  ['http://bücher.example/ö', 'http://xn--bcher-kva.example/%C3%B6'],
  ['http://foo.localhost/', 'http://foo.localhost/'],
])('reads %j as %s', (text, href) => {
  const target = parseTarget(text)
  expect(target.ok && target.url.href).toBe(href)
})

it.each([
  ['http://127.0.0.1:6666\\@1.1.1.1/', 'backslash'],
  ['http:\\\\example.com', 'backslash'],
  ['http://example.com/a\\b', 'backslash'],
  ['ht\ntp://example.com/', 'white space or a control character'],
  ['http://exam\tple.com/', 'white space or a control character'],
  ['http://1.1.1.1 &@2.2.2.2# @3.3.3.3/', 'white space or a control character'],
  ['http://example.com/\u0000', 'white space or a control character'],
  ['http://example.com/a\u2028b', 'white space or a control character'],
  ['http://user@example.com/', 'user name or password'],
  ['http://:word@example.com/', 'user name or password'],
  ['http://1.1.1.1&@2.2.2.2/', 'user name or password'],
  ['file:///etc/passwd', 'only http and https'],
  ['ftp://example.com/', 'only http and https'],
  ['javascript:alert(1)', 'only http and https'],
  ['data:text/html,x', 'only http and https'],
  ['jar:http://127.0.0.1!/', 'only http and https'],
  ['blob:http://example.com/1', 'only http and https'],
  ['ws://example.com/', 'only http and https'],
  ['', 'not a full address'],
  ['/path', 'not a full address'],
  ['//example.com/', 'not a full address'],
  ['example.com', 'not a full address'],
  ['http://', 'not a full address'],
  ['http://?q', 'not a full address'],
  ['http://127.0.0.1:0x50/', 'not a full address'],
  ['http://example.com:99999/', 'not a full address'],
  ['http://[::1%25eth0]/', 'not a full address'],
  ['http://exa<mple.com/', 'not a full address'],
  ['http://256.0.0.1/', 'not a full address'],
])('refuses %j: %s', (text, reason) => {
  expect(parseTarget(text)).toEqual({ ok: false, reason: expect.stringContaining(reason) })
})

it('repeats nothing of what it refuses, which may hold a password', () => {
  const target = parseTarget('http://user:hunter2@example.com/')
  expect(target.ok ? '' : target.reason).not.toMatch(/hunter2|user:/)
})

it('checks a URL object as it checks text, and returns another object', () => {
  expect(parseTarget(new URL('file:///etc/passwd')).ok).toBe(false)
  expect(parseTarget(new URL('http://user@example.com/')).ok).toBe(false)
  const url = new URL('http://example.com/')
  const target = parseTarget(url)
  url.hostname = 'changed.example'
  expect(target.ok && target.url.hostname).toBe('example.com')
})

it.each([
  ['/b', 'http://example.com/b'],
  ['c?d', 'http://example.com/a/c?d'],
  ['//other.example/', 'http://other.example/'],
  ['https://other.example/', 'https://other.example/'],
])('resolves %s against the page that named it', (reference, href) => {
  const target = parseTarget(reference, new URL('http://example.com/a/'))
  expect(target.ok && target.url.href).toBe(href)
})

it('refuses a reference that leads away from http', () => {
  expect(parseTarget('file:///etc/passwd', new URL('http://example.com/')).ok).toBe(false)
  expect(parseTarget('/\\evil.example', new URL('http://example.com/')).ok).toBe(false)
})
