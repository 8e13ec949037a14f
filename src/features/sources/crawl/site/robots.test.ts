import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { retryAfter } from '#platform/outbound/retry-after.ts'
import { adviceOfRobots, allowedByRobots } from './robots.ts'
import { readSitemap, sitemapText } from './sitemap.ts'

const rules = (text: string) => ({ kind: 'text' as const, url: 'http://example.com/robots.txt', text })
const at = (path: string) => `http://example.com${path}`

describe('robots.txt', () => {
  test.each([
    ['User-agent: *\nDisallow: /private/', '/private/a', false],
    ['User-agent: *\nDisallow: /private/', '/public', true],
    ['User-agent: *\nDisallow: /', '/', false],
    ['User-agent: *\nDisallow:', '/a', true],
    ['User-agent: *\nDisallow: /\nAllow: /open', '/open/a', true],
    ['User-agent: *\nDisallow: /*?sort=', '/list?sort=up', false],
    ['User-agent: *\nDisallow: /*.pdf$', '/a.pdf?x', true],
    ['User-agent: agentstead\nDisallow: /\n\nUser-agent: *\nAllow: /', '/a', false],
    ['User-agent: *\nDisallow: /\n\nUser-agent: AgentStead\nAllow: /', '/a', true],
    ['User-agent: otherbot\nDisallow: /', '/a', true],
    ['<html>not a robots.txt</html>', '/a', true],
    ['', '/a', true],
    // Escapes of the same characters are the same path (RFC 9309), however rule and address are written.
    ['User-agent: *\nDisallow: /%7Ejoe/', '/~joe/a', false],
    ['User-agent: *\nDisallow: /~joe/', '/~joe/a', false],
    ['User-agent: *\nDisallow: /caf\u00e9', '/caf%C3%A9', false],
    ['User-agent: *\nDisallow: /a|b[1]', '/a|b[1]', false],
    ['User-agent: *\nDisallow: /a%2Fb', '/a%2Fb', false],
    ['User-agent: *\nDisallow: /a%2Fb', '/a/b', true],
    ['User-agent: *\nDisallow: /*?q=%5B', '/a?q=[', false],
  ])('%j about %s: %s', (text, path, expected) => {
    expect(allowedByRobots(rules(text), [at(path)])).toEqual([expected])
  })

  test('tells a delay and sitemaps', () => {
    const text = 'Sitemap: http://example.com/map.xml\nUser-agent: *\nCrawl-delay: 2.5'
    expect(adviceOfRobots(rules(text))).toEqual({
      crawlDelay: 2500,
      sitemaps: ['http://example.com/map.xml'],
    })
    expect(adviceOfRobots(rules('User-agent: *\nCrawl-delay: -1'))).toEqual({ crawlDelay: 0, sitemaps: [] })
    expect(adviceOfRobots(rules('User-agent: *\nCrawl-delay: soon')).crawlDelay).toBe(0)
  })

  test('with hostile patterns takes time that its size accounts for', () => {
    const text = `User-agent: *\n${`Disallow: /${'*a'.repeat(100)}b\n`.repeat(500)}`
    const begun = process.cpuUsage()
    expect(allowedByRobots(rules(text), [at(`/${'a'.repeat(1_900)}`)])).toEqual([true])
    expect(process.cpuUsage(begun).user / 1000).toBeLessThan(10_000)
  })
})

test('a sitemap may be compressed, but not without measure', () => {
  const list = '<urlset><url><loc>http://a/b</loc></url></urlset>'
  expect(sitemapText(gzipSync(list))).toBe(list)
  expect(() => sitemapText(gzipSync(Buffer.alloc(60 * 1024 * 1024)))).toThrow()
})

describe('a sitemap', () => {
  test.each([
    [
      '<urlset><url><loc> http://a/?x=1&amp;y=2 </loc></url><url><loc>http://a/b</loc></url></urlset>',
      ['http://a/?x=1&y=2', 'http://a/b'],
      [],
    ],
    [
      '<?xml version="1.0"?><sitemapindex><sitemap><loc>http://a/1.xml</loc></sitemap></sitemapindex>',
      [],
      ['http://a/1.xml'],
    ],
    ['<urlset><url><loc><![CDATA[ http://a/?x=1&y[]=2 ]]></loc></url></urlset>', ['http://a/?x=1&y[]=2'], []],
    [
      '<urlset><url><loc>http://a/?x=1&#38;y=2&#x26;z=&#x110000;</loc></url></urlset>',
      ['http://a/?x=1&y=2&z=&#x110000;'],
      [],
    ],
    // Pictures of a page are no pages, and what is commented out is not there.
    [
      '<urlset><url><loc>http://a/b</loc><image:image><image:loc>http://a/b.png</image:loc></image:image></url></urlset>',
      ['http://a/b'],
      [],
    ],
    [
      '<s:urlset><s:url><s:loc>http://a/b</s:loc><i:image><i:loc>http://a/b.png</i:loc></i:image></s:url></s:urlset>',
      ['http://a/b'],
      [],
    ],
    [
      '<urlset><!-- <url><loc>http://a/old</loc></url> --><url><loc>http://a/b</loc></url><!-- <loc>http://a/open</loc>',
      ['http://a/b'],
      [],
    ],
    ['http://a/1\nhttp://a/2\n', ['http://a/1', 'http://a/2'], []],
    [
      '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><urlset><url><loc>&e;</loc></url></urlset>',
      ['&e;'],
      [],
    ],
  ])('%s', (text, pages, sitemaps) => {
    expect(readSitemap(text)).toEqual({ pages, sitemaps })
  })

  test('is named if it is none', () => {
    expect(readSitemap('<html>Not here.</html>')).toMatchObject({ pages: [], problem: 'It is no sitemap.' })
  })
})

test.each([
  ['120', 120_000],
  ['Thu, 01 Jan 1970 00:01:00 GMT', 59_000],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ['soon', undefined],
  ['', undefined],
  [null, undefined],
])('Retry-After: %s', (header, expected) => {
  expect(retryAfter(header, 1_000)).toBe(expected)
})
