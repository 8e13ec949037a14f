import { describe, expect, test } from 'vitest'
import { parseHtml } from '#documents/parsing/html/html-tree.ts'
import { headerDirectives } from './page-directives.ts'
import { outlineOf } from './page-outline.ts'

const url = 'http://example.com/docs/a.html'
const outline = (html: string) => outlineOf(parseHtml(html), url)

describe('the links of a page', () => {
  test('are those of anchors and image maps on its own origin, each once, in order', () => {
    const { links } =
      outline(`<html><body><a href="b.html#x">b</a><map><area href="/c"></map><a href="b.html">b</a>
      <a href="https://example.com/d">d</a><a href="//other.example/">o</a><a href="mailto:x@y">m</a><a name="x">n</a>
      <a href="">self</a><link href="/style.css"><img src="/e.png"></body></html>`)
    expect(links).toEqual(['http://example.com/docs/b.html', 'http://example.com/c', url])
  })

  test('begin at the base that it declares', () => {
    const { links } = outline('<html><head><base href="/other/"></head><body><a href="b">b</a></body></html>')
    expect(links).toEqual(['http://example.com/other/b'])
    expect(
      outline('<html><head><base href="javascript:x"></head><body><a href="b">b</a></body></html>').links,
    ).toEqual(['http://example.com/docs/b'])
  })

  test('leave out those that are not to be followed, and take in a refresh', () => {
    expect(outline('<a rel="noopener NOFOLLOW" href="/a">a</a><a rel="next" href="/b">b</a>').links).toEqual([
      'http://example.com/b',
    ])
    expect(
      outline('<html><head><meta http-equiv="Refresh" content="0; url=/next"></head><body></body></html>')
        .links,
    ).toEqual(['http://example.com/next'])
  })

  test('are not more than a page may bring', () => {
    const many = Array.from({ length: 6_000 }, (_, at) => `<a href="/${at}">x</a>`).join('')
    expect(outline(many).links).toHaveLength(5_000)
  })
})

describe('what a page says of itself', () => {
  test.each([
    ['<link rel="canonical" href="/a">', 'http://example.com/a'],
    ['<link rel="Canonical" href="b.html#x">', 'http://example.com/docs/b.html'],
    [`<link rel="canonical" href="${url}">`, undefined],
    ['<link rel="canonical" href="https://other.example/a">', undefined],
    ['<link rel="canonical" href="">', undefined],
  ])('%s', (head, canonical) => {
    expect(outline(`<html><head>${head}</head><body>x</body></html>`).canonical).toBe(canonical)
  })

  test.each([
    ['<meta name="robots" content="noindex">', true, false],
    ['<meta name="ROBOTS" content="Index, NoFollow">', false, true],
    ['<meta name="agentstead" content="none">', true, true],
    ['<meta name="robots" content="noindex nofollow">', true, true],
    ['<meta name="googlebot" content="noindex">', false, false],
    ['<meta name="description" content="noindex">', false, false],
    ['', false, false],
  ])('%s', (head, noIndex, noFollow) => {
    expect(outline(`<html><head>${head}</head><body>x</body></html>`)).toMatchObject({ noIndex, noFollow })
  })

  test.each([
    ['noindex', true, false],
    ['noindex, nofollow', true, true],
    ['googlebot: noindex', false, false],
    ['googlebot: noindex, nofollow', false, false],
    ['agentstead: noindex', true, false],
    ['otherbot: nofollow, agentstead: noindex', true, false],
    ['unavailable_after: 25 Jun 2010 15:00:00 PST, nofollow', false, true],
    ['', false, false],
  ])('X-Robots-Tag: %s', (header, noIndex, noFollow) => {
    expect(headerDirectives(header)).toEqual({ noIndex, noFollow })
  })
})
