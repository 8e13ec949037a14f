import { describe, expect, test } from 'vitest'
import { processorTime } from '#test/support/processor-time.ts'
import { limits } from '../limits.ts'
import { readHtmlPage } from './html-page.ts'

const url = 'https://shop.example/guide/index.html'

async function markdownOf(html: string): Promise<string> {
  return (await readHtmlPage({ html, url })).markdown
}

describe('readHtmlPage', () => {
  test('the article is kept, the furniture of the site is not', async () => {
    const sentence =
      'Water of eighty degrees suits green tea best, since hotter water draws out its bitter parts. '
    const page = await readHtmlPage({
      url,
      html: `<html><head><title>
        Brewing  tea</title><style>p { color: red }</style></head><body>
        <nav><a href="/">Home</a></nav>
        <article><h1>Brewing tea</h1><h2>Heat</h2><p>${sentence.repeat(8)}</p><script>track()</script></article>
        <footer>All rights reserved</footer></body></html>`,
    })
    expect(page.title).toBe('Brewing tea')
    expect(page.markdown).toContain('## Heat')
    expect(page.markdown).toContain(sentence.trim())
    expect(page.markdown).not.toMatch(/Home|track|color|rights reserved/)
  })

  test('what a page names its one article is kept whole, but for what is there to be used', async () => {
    const page = `<main><article><h1>Tea</h1><p>Short.</p><ul><li><a href="/a">Green</a></li></ul><aside>Hot!</aside>
      <form><button>Send</button></form><footer>By Ann</footer></article><p>More</p></main><div>${'menu '.repeat(99)}</div>`
    expect(await markdownOf(page)).toBe('# Tea\n\nShort.\n\n-   [Green](https://shop.example/a)\n\nHot!')
  })

  test('an article that is little of its page is not all of it', async () => {
    const sentence =
      'Water of eighty degrees suits green tea best, since hotter water draws out its bitter parts. '
    const html = `<main><p>${sentence.repeat(8)}</p><article><p>A teaser.</p></article></main>`
    expect(await markdownOf(html)).toContain(sentence.trim())
  })

  test.each([
    '<!doctype html><html lang="en"><title>Tides</title><p>Spring',
    '<!doctype html><head><title>Tides</title></head><body><p>Spring</body>',
    '<title>Tides</title><body class="x"><p>Spring',
    '<head><title>Tides</title></head><p>Spring',
    '<!-- old --><html><head></head><title>Tides</title><p>Spring</html>',
    '<html><head><title>Tides</title></head><frameset><noframes><p>Spring</noframes></frameset></html>',
  ])('tags that an author may leave out are not missed: %s', async html => {
    expect(await readHtmlPage({ html, url })).toEqual({ title: 'Tides', markdown: 'Spring' })
  })

  test.each([
    '<html><body><p>Spring</p></body><body><p>Neap</p></body></html>',
    '<html><body><p>Spring</p></body></html><p>Neap</p>',
  ])('what stands beside the body is shown with it: %s', async html => {
    expect(await markdownOf(html)).toBe('Spring\n\nNeap')
  })

  test.each([
    ['https://site.example/tide_(sea)', 'https://site.example/tide_(sea)'],
    ['mailto:a@b.example?x=)[more](javascript:x', 'mailto:a@b.example?x=%29[more]%28javascript:x'],
    ['https://site.example/)(', 'https://site.example/%29%28'],
  ])('a link to %s has one target', async (href, target) => {
    expect(await markdownOf(`<p><a href="${href}">Tide</a></p>`)).toBe(`[Tide](${target})`)
  })

  test('code does not end the block that it stands in', async () => {
    const code = 'a\n   ```\n# b'
    expect(await markdownOf(`<pre>${code}</pre>`)).toBe(`\`\`\`\`\n${code}\n\`\`\`\``)
  })

  test('attributes without end do not hold up the page', async () => {
    const attributes = Array.from({ length: 60_000 }, (_, index) => `a${index}=1`).join(' ')
    const spent = await processorTime(async () =>
      expect(await markdownOf(`<p ${attributes}>Spring</p>`)).toBe('Spring'),
    )
    expect(spent).toBeLessThan(5_000)
  })

  test('what follows columns whose end is left out is shown', async () => {
    expect(await markdownOf('<colgroup><col><p>Spring</p><p>Neap</p>')).toBe('Spring\n\nNeap')
  })

  test('an element is no more than its name, whatever that is', async () => {
    expect(await markdownOf('<p>Spring <constructor>tide</constructor></p>')).toBe('Spring tide')
  })

  test('a list of links, which has no article, is kept whole', async () => {
    const items = Array.from(
      { length: 30 },
      (_, index) => `<li><a href="/n/${index}">Story ${index}</a></li>`,
    )
    const markdown = await markdownOf(`<html><body><h1>News</h1><ul>${items.join('')}</ul></body></html>`)
    expect(markdown).toContain('[Story 0](https://shop.example/n/0)')
    expect(markdown).toContain('[Story 29](https://shop.example/n/29)')
  })

  test('what browsers show that can play nothing is left out', async () => {
    const video = '<video controls><source src="a.mp4">Your browser does not support the video tag.</video>'
    expect(await markdownOf(`<main><p>Watch:</p>${video}</main>`)).toBe('Watch:')
  })

  test('a page that is more than its article is kept whole', async () => {
    const sentence =
      'Water of eighty degrees suits green tea best, since hotter water draws out its bitter parts. '
    const links = Array.from(
      { length: 80 },
      (_, index) => `<li><a href="/n/${index}">Story of number ${index}</a></li>`,
    )
    const html = `<html><body><div><p>${sentence.repeat(6)}</p></div><div class="sidebar"><ul>${links.join('')}</ul></div></body></html>`
    expect(await markdownOf(html)).toContain('Story of number 79')
  })

  test.each([
    ['relative', '<a href="next.html?a=1#b">Next</a>', '[Next](https://shop.example/guide/next.html?a=1#b)'],
    ['absolute', '<a href="http://other.example/">Other</a>', '[Other](http://other.example/)'],
    ['to a mailbox', '<a href="mailto:a@b.example">Mail</a>', '[Mail](mailto:a@b.example)'],
    ['within the page', '<a href="#top">Top</a>', 'Top'],
    ['that run code', '<a href="javascript:alert(1)">Run</a>', 'Run'],
    ['that make no URL', '<a href="http://[bad">Bad</a>', '[Bad](http://[bad)'],
  ])('links %s', async (_name, html, markdown) => {
    expect(await markdownOf(`<p>${html}</p>`)).toBe(markdown)
  })

  test('the base of the page counts for its links', async () => {
    const html = '<html><head><base href="/docs/"></head><body><a href="a.html">A</a></body></html>'
    expect(await markdownOf(html)).toBe('[A](https://shop.example/docs/a.html)')
  })

  test('tables are tables, and lists in their cells are lines', async () => {
    const html =
      '<table><tr><th>Kind</th><th>Of</th></tr><tr><td>Tea</td><td><ul><li>green</li><li>black</li></ul></td></tr></table>'
    expect(await markdownOf(html)).toBe('| Kind | Of  |\n| --- | --- |\n| Tea | green<br><br>black |')
  })

  test('a table that lays out the page gives way to what is in it', async () => {
    const html = '<table><tr><td>Menu</td><td><table><tr><th>A</th><th>B</th></tr></table></td></tr></table>'
    expect(await markdownOf(html)).toBe('Menu\n\n| A   | B   |\n| --- | --- |')
  })

  test('pictures are their description', async () => {
    expect(
      await markdownOf('<p>See <img src="a.png" alt="a cup"> <img src="data:image/png;base64,AA"></p>'),
    ).toBe('See a cup')
  })

  test.each([
    ['nothing', '', ''],
    ['a bare text', 'just text', 'just text'],
    ['a frame set', '<html><frameset><frame src="a"></frameset></html>', ''],
    ['no body', '<html><head></head></html>', ''],
  ])('%s is no mistake', async (_name, html, markdown) => {
    expect(await markdownOf(html)).toBe(markdown)
  })

  test('the title may be missing, or stand elsewhere', async () => {
    expect((await readHtmlPage({ html: '<p>x</p>', url })).title).toBe('')
    expect((await readHtmlPage({ html: '<h1>Only a heading</h1><p>x</p>', url })).title).toBe(
      'Only a heading',
    )
    const meta = '<html><head><meta property="og:title" content="Shared"></head><body>x</body></html>'
    expect((await readHtmlPage({ html: meta, url })).title).toBe('Shared')
  })

  test('a page nested beyond reason is its bare text', async () => {
    expect(await markdownOf(`${'<div>'.repeat(limits.htmlDepth * 10)}deep <b>down</b>`)).toBe('deep down')
  })
})
