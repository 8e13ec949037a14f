import { describe, expect, test } from 'vitest'
import { processorTime } from '#test/support/processor-time.ts'
import { limits } from '../limits.ts'
import { readHtmlPage } from './html-page.ts'

const url = 'https://shop.example/guide/index.html'

function markdownOf(html: string): string {
  return readHtmlPage({ html, url }).markdown
}

describe('readHtmlPage', () => {
  test('an article that is little of its page is not all of it', () => {
    const sentence =
      'Water of eighty degrees suits green tea best, since hotter water draws out its bitter parts. '
    const html = `<main><p>${sentence.repeat(8)}</p><article><p>A teaser.</p></article></main>`
    expect(markdownOf(html)).toContain(sentence.trim())
  })

  test.each([
    '<!doctype html><html lang="en"><title>Tides</title><p>Spring',
    '<!doctype html><head><title>Tides</title></head><body><p>Spring</body>',
    '<title>Tides</title><body class="x"><p>Spring',
    '<head><title>Tides</title></head><p>Spring',
    '<!-- old --><html><head></head><title>Tides</title><p>Spring</html>',
    '<html><head><title>Tides</title></head><frameset><noframes><p>Spring</noframes></frameset></html>',
  ])('tags that an author may leave out are not missed: %s', html => {
    expect(readHtmlPage({ html, url })).toEqual({ title: 'Tides', markdown: 'Spring' })
  })

  test.each([
    '<html><body><p>Spring</p></body><body><p>Neap</p></body></html>',
    '<html><body><p>Spring</p></body></html><p>Neap</p>',
  ])('what stands beside the body is shown with it: %s', html => {
    expect(markdownOf(html)).toBe('Spring\n\nNeap')
  })

  test.each([
    ['https://site.example/tide_(sea)', 'https://site.example/tide_(sea)'],
    ['mailto:a@b.example?x=)[more](javascript:x', 'mailto:a@b.example?x=%29[more]%28javascript:x'],
    ['https://site.example/)(', 'https://site.example/%29%28'],
  ])('a link to %s has one target', (href, target) => {
    expect(markdownOf(`<p><a href="${href}">Tide</a></p>`)).toBe(`[Tide](${target})`)
  })

  test('code does not end the block that it stands in', () => {
    const code = 'a\n   ```\n# b'
    expect(markdownOf(`<pre>${code}</pre>`)).toBe(`\`\`\`\`\n${code}\n\`\`\`\``)
  })

  test('attributes without end do not hold up the page', async () => {
    const attributes = Array.from({ length: 60_000 }, (_, index) => `a${index}=1`).join(' ')
    const spent = await processorTime(async () =>
      expect(markdownOf(`<p ${attributes}>Spring</p>`)).toBe('Spring'),
    )
    expect(spent).toBeLessThan(5_000)
  })

  test('what follows columns whose end is left out is shown', () => {
    expect(markdownOf('<colgroup><col><p>Spring</p><p>Neap</p>')).toBe('Spring\n\nNeap')
  })

  test('an element is no more than its name, whatever that is', () => {
    expect(markdownOf('<p>Spring <constructor>tide</constructor></p>')).toBe('Spring tide')
  })

  test('a list of links, which has no article, is kept whole', () => {
    const items = Array.from(
      { length: 30 },
      (_, index) => `<li><a href="/n/${index}">Story ${index}</a></li>`,
    )
    const markdown = markdownOf(`<html><body><h1>News</h1><ul>${items.join('')}</ul></body></html>`)
    expect(markdown).toContain('[Story 0](https://shop.example/n/0)')
    expect(markdown).toContain('[Story 29](https://shop.example/n/29)')
  })

  test('what browsers show that can play nothing is left out', () => {
    const video = '<video controls><source src="a.mp4">Your browser does not support the video tag.</video>'
    expect(markdownOf(`<main><p>Watch:</p>${video}</main>`)).toBe('Watch:')
  })

  test('a page that is more than its article is kept whole', () => {
    const sentence =
      'Water of eighty degrees suits green tea best, since hotter water draws out its bitter parts. '
    const links = Array.from(
      { length: 80 },
      (_, index) => `<li><a href="/n/${index}">Story of number ${index}</a></li>`,
    )
    const html = `<html><body><div><p>${sentence.repeat(6)}</p></div><div class="sidebar"><ul>${links.join('')}</ul></div></body></html>`
    expect(markdownOf(html)).toContain('Story of number 79')
  })

  test.each([
    ['relative', '<a href="next.html?a=1#b">Next</a>', '[Next](https://shop.example/guide/next.html?a=1#b)'],
    ['absolute', '<a href="http://other.example/">Other</a>', '[Other](http://other.example/)'],
    ['to a mailbox', '<a href="mailto:a@b.example">Mail</a>', '[Mail](mailto:a@b.example)'],
    ['within the page', '<a href="#top">Top</a>', 'Top'],
    ['that run code', '<a href="javascript:alert(1)">Run</a>', 'Run'],
    ['that make no URL', '<a href="http://[bad">Bad</a>', '[Bad](http://[bad)'],
  ])('links %s', (_name, html, markdown) => {
    expect(markdownOf(`<p>${html}</p>`)).toBe(markdown)
  })

  test('the base of the page counts for its links', () => {
    const html = '<html><head><base href="/docs/"></head><body><a href="a.html">A</a></body></html>'
    expect(markdownOf(html)).toBe('[A](https://shop.example/docs/a.html)')
  })

  test('tables are tables, and lists in their cells are lines', () => {
    const html =
      '<table><tr><th>Kind</th><th>Of</th></tr><tr><td>Tea</td><td><ul><li>green</li><li>black</li></ul></td></tr></table>'
    expect(markdownOf(html)).toBe('| Kind | Of  |\n| --- | --- |\n| Tea | green<br><br>black |')
  })

  test('a table that lays out the page gives way to what is in it', () => {
    const html = '<table><tr><td>Menu</td><td><table><tr><th>A</th><th>B</th></tr></table></td></tr></table>'
    expect(markdownOf(html)).toBe('Menu\n\n| A   | B   |\n| --- | --- |')
  })

  test('pictures are their description', () => {
    expect(markdownOf('<p>See <img src="a.png" alt="a cup"> <img src="data:image/png;base64,AA"></p>')).toBe(
      'See a cup',
    )
  })

  test.each([
    ['nothing', '', ''],
    ['a bare text', 'just text', 'just text'],
    ['a frame set', '<html><frameset><frame src="a"></frameset></html>', ''],
    ['no body', '<html><head></head></html>', ''],
  ])('%s is no mistake', (_name, html, markdown) => {
    expect(markdownOf(html)).toBe(markdown)
  })

  test('the title may be missing, or stand elsewhere', () => {
    expect(readHtmlPage({ html: '<p>x</p>', url }).title).toBe('')
    expect(readHtmlPage({ html: '<h1>Only a heading</h1><p>x</p>', url }).title).toBe('Only a heading')
    const meta = '<html><head><meta property="og:title" content="Shared"></head><body>x</body></html>'
    expect(readHtmlPage({ html: meta, url }).title).toBe('Shared')
  })

  test('a page nested beyond reason is its bare text', () => {
    expect(markdownOf(`${'<div>'.repeat(limits.htmlDepth * 10)}deep <b>down</b>`)).toBe('deep down')
  })
})
