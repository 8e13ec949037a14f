import { describe, expect, test } from 'vitest'
import { limits } from '../limits.ts'
import { toMarkdown } from './html-to-markdown.ts'
import { parseHtml } from './html-tree.ts'

const markdownOf = (html: string, markup = true) => toMarkdown(parseHtml(html).body, { markup })
/** Milliseconds of the processor's time; far above what linear work takes, far below what anything else does. */
const timeout = 5_000

function readWithin(html: string): string {
  const before = process.cpuUsage().user
  const markdown = markdownOf(html)
  expect((process.cpuUsage().user - before) / 1000).toBeLessThan(timeout)
  return markdown
}

describe('text', () => {
  test.each([
    ['white space stays out of marks', '<p>a <b> b </b>c<i>d</i>\n e</p>', 'a **b** c_d_ e'],
    ['words stay apart', 'a<b>&nbsp;</b>b<span> </span>c', 'a b c'],
    ['marks that hold nothing vanish', '<p>a<b> </b><i></i><a href="http://x.example/"> </a>b</p>', 'a b'],
    ['the same mark within itself counts once', '<b>a<strong>b</strong></b>', '**ab**'],
    ['a line break', 'a<br>b', 'a  \nb'],
    ['two of them part paragraphs', 'a<br><br>\nb', 'a\n\nb'],
    ['struck text', '<del>a</del>', '~~a~~'],
    [
      'a link without line breaks',
      '<a href="http://x.example/a b">a<br>b</a>',
      '[a b](http://x.example/a%20b)',
    ],
    [
      'a card, all of which leads somewhere',
      '<a href="http://x.example/"><h3>Tea</h3><p>Hot</p></a>',
      '[Tea Hot](http://x.example/)',
    ],
    [
      'of links in one another the innermost',
      '<a href="http://x.example/1">a <a href="http://x.example/2">b</a></a>',
      'a [b](http://x.example/2)',
    ],
    [
      'blocks parted from the text around',
      'a<div>b</div>c<details><summary>d</summary>e</details>',
      'a\n\nb\n\nc\n\nd\n\ne',
    ],
    ['a power of ten', '<p>10<sup>6</sup> m and 4·10<sup>−12</sup></p>', '10⁶ m and 4·10⁻¹²'],
    ['a power of a bracket', '(1+r)<sup> 2 </sup>x', '(1+r) 2 x'],
    ['a number above the line behind a word, or a space', 'tea<sup>1</sup> 5 <sup>2</sup>', 'tea1 5 2'],
    ['a note behind a year', '2020<sup>3</sup>, 2021<sup><a href="#n">4</a></sup>', '2020³, 2021⁴'],
    ['letters above the line', '1<sup>st</sup>, 2<sup>a1</sup>', '1st, 2a1'],
    ['a paragraph in emphasis that was never closed', '<p><b>text<p>more', 'text\n\nmore'],
  ])('%s', (_name, html, markdown) => {
    expect(markdownOf(html)).toBe(markdown)
  })

  test.each([
    ['*a* _b_ `c` [d] \\', '\\*a\\* \\_b\\_ \\`c\\` \\[d\\] \\\\'],
    ['# a', '\\# a'],
    ['#a', '#a'],
    ['- a - b', '\\- a - b'],
    ['+ a', '\\+ a'],
    ['1. a 1. b', '1\\. a 1. b'],
    ['> a', '\\> a'],
    ['=== a', '\\=== a'],
    ['~~~ a', '\\~~~ a'],
    ['a<br># b', 'a  \n\\# b'],
    ['a <b>- b</b> # c', 'a **- b** # c'],
  ])('what markdown would take for its own is escaped: %s', (html, markdown) => {
    expect(markdownOf(`<p>${html}</p>`)).toBe(markdown)
  })

  test('without markup, text stays as it is, and what orders it stays', () => {
    const html = '<h1>A</h1><p>1. <b>*b*</b> <code>c_d</code></p><ul><li>e</ul>'
    expect(markdownOf(html, false)).toBe('# A\n\n1. *b* c_d\n\n-   e')
  })
})

describe('headings', () => {
  test.each([
    ['in one line', '<h2>a <div>b</div><br><em>c</em></h2>', '## a b _c_'],
    ['that hold nothing vanish', '<h2> <svg></svg></h2>a', 'a'],
  ])('%s', (_name, html, markdown) => {
    expect(markdownOf(html)).toBe(markdown)
  })

  test('one that is never closed does not put the page into a line', () => {
    const text = 'word '.repeat(300).trim()
    expect(markdownOf(`<h1>Title<p>${text}</p><p>end</p>`)).toBe(`Title\n\n${text}\n\nend`)
  })
})

describe('lists and quotes', () => {
  test.each([
    ['items below one another', '<ul><li>a</li> <li>b</li></ul>', '-   a\n-   b'],
    [
      'in one another',
      '<ul><li>a<ul><li>b<ol><li>c</ol></ul><li>d</ul>',
      '-   a\n    -   b\n        1.  c\n-   d',
    ],
    [
      'a list that stands among items',
      '<ul><li>a</li><ul><li>b</li></ul><li>c</li></ul>',
      '-   a\n    -   b\n-   c',
    ],
    ['numbers from where they start', '<ol start="9"><li>a<li>b</ol>', '9.  a\n10.  b'],
    ['paragraphs in items', '<ul><li><p>a</p><p>b</p></li><li>c</li></ul>', '-   a\n\n    b\n\n-   c'],
    ['items whose tags were left open', '<ul><li><b>a<li><i>b</ul>', '-   **a**\n-   _b_'],
    ['items that hold nothing', '<ul><li></li><li>a</li></ul>', '-   a'],
    [
      'what is done',
      '<ul><li><input type=checkbox checked> a<li><input type=checkbox> b</ul>',
      '-   [x] a\n-   [ ] b',
    ],
    [
      'code in items',
      '<ul><li>a<pre><code>b\n  c</code></pre></li></ul>',
      '-   a\n\n    ```\n    b\n      c\n    ```',
    ],
    ['quotes', '<blockquote><p>a</p><ul><li>b</ul></blockquote>', '> a\n>\n> -   b'],
    ['definitions', '<dl><dt>a<dd>b<dd>c<dt>d<dd>e</dl>f', 'a\n:   b\n:   c\n\nd\n:   e\n\nf'],
    ['options', '<select><option>a</option><option selected>b</select>', '-   a\n-   b'],
  ])('%s', (_name, html, markdown) => {
    expect(markdownOf(html)).toBe(markdown)
  })
})

describe('code', () => {
  test.each([
    ['in a line', 'a <code>b*  c</code>.', 'a `b* c`.'],
    ['with backticks', '<code>a`b``c</code> <code>`d</code>', '```a`b``c``` `` `d ``'],
    [
      'links in it',
      '<code>Map&lt;<a href="http://x.example/">Key</a>&gt;</code>',
      '`Map<`[`Key`](http://x.example/)`>`',
    ],
    [
      'in lines',
      '<pre><code class="hljs language-js">a <b>=</b> `#`\n\n# c\n</code></pre>',
      '```js\na = `#`\n\n# c\n```',
    ],
    ['with fences', '<pre>```\na\n````\n</pre>', '`````\n```\na\n````\n`````'],
    [
      'as GitHub colours it',
      '<div class="highlight highlight-source-c"><pre>int <span>a</span>;<br>b</pre></div>',
      '```c\nint a;\nb\n```',
    ],
    [
      'lines with links',
      '<pre>a_b\n  # <a href="http://x.example/">c</a>\n# d</pre>',
      'a\\_b\n  # [c](http://x.example/)\n\\# d',
    ],
  ])('%s', (_name, html, markdown) => {
    expect(markdownOf(html)).toBe(markdown)
  })
})

describe('tables', () => {
  const table = (...rows: string[]) => rows.join('\n')
  test.each([
    [
      'with a head',
      '<table><thead><tr><td>a<td>b</thead><tr><td>c<td>d|e</table>',
      table('| a   | b   |', '| --- | --- |', '| c   | d\\|e |'),
    ],
    [
      'without one',
      '<table><tr><td>a<td>b</table>',
      table('|     |     |', '| --- | --- |', '| a   | b   |'),
    ],
    [
      'of uneven rows',
      '<table><tr><th>a<tr><td>b<td>c</table>',
      table('| a   |     |', '| --- | --- |', '| b   | c   |'),
    ],
    [
      'with wide cells',
      '<table><tr><th colspan=2>a<tr><td>b<td>c</table>',
      table('| a   |     |', '| --- | --- |', '| b   | c   |'),
    ],
    [
      'blocks in cells as lines',
      '<table><tr><th>a<th>b<tr><td><h2>c</h2><ol><li>d<li>e</ol><td><pre>f\ng</pre></table>',
      table('| a   | b   |', '| --- | --- |', '| c<br><br>d<br><br>e | f<br>g |'),
    ],
    [
      'cells whose tags were left open',
      '<table><tr><th><font>a<th><font>b<tr><td><font>c<td><font>d</table>',
      table('| a   | b   |', '| --- | --- |', '| c   | d   |'),
    ],
    [
      'cells in no row',
      '<table><td>a<td>b</table>',
      table('|     |     |', '| --- | --- |', '| a   | b   |'),
    ],
    [
      'what stands beside the rows above them',
      '<table><caption>A</caption><form><tr><th>b<th>c</tr></form></table>',
      table('A', '', '| b   | c   |', '| --- | --- |'),
    ],
    [
      'with cells that reach over several rows, which stay in their columns',
      '<table><tr><th>a<th>b<th>c<tr><td rowspan=2>d<td>e<td rowspan=3>f<tr><td>g<tr><td>h<td>i<tr><td>j</table>',
      table(
        ...['| a   | b   | c   |', '| --- | --- | --- |', '| d   | e   | f   |'],
        ...['|     | g   |', '| h   | i   |', '| j   |'],
      ),
    ],
    [
      'with cells that reach over rows and columns',
      '<table><tr><th>a<th>b<th>c<tr><td rowspan=2 colspan=2>d<td>e<tr><td>f</table>',
      table('| a   | b   | c   |', '| --- | --- | --- |', '| d   |     | e   |', '|     |     | f   |'),
    ],
    ['of one cell as what is in it', '<table><tr><td><h2>a</h2>b</table>', '## a\n\nb'],
    [
      'with tables in them as what is in them',
      '<table><tr><td><h2>a</h2><td><table><tr><th>b<th>c</table></table>',
      '## a\n\n| b   | c   |\n| --- | --- |',
    ],
  ])('%s', (_name, html, markdown) => {
    expect(markdownOf(html)).toBe(markdown)
  })
})

describe('pages that were made to do harm', () => {
  test.each([
    ['tags that are never closed', '<div>'.repeat(100_000)],
    ['a megabyte of one tag', '<b>'.repeat(333_333)],
    ['more tags to be closed than were opened', '<b>'.repeat(50_000) + '</x>'.repeat(50_000)],
    ['items and cells below open tags', `${'<b>'.repeat(50_000)}${'<li><td>'.repeat(20_000)}`],
    ['bodies in one another', '<body>'.repeat(100_000)],
  ])('%s are read in time', (_name, html) => {
    expect(readWithin(`${html}end`)).toBe('end')
  })

  test('scripts stay silent below any number of tags', () => {
    expect(readWithin(`${'<b>'.repeat(10_000)}<script>a()</script>end`)).toBe('end')
  })

  test('lists in one another do not unfold a page', () => {
    const html = '<ul><li>'.repeat(limits.htmlDepth / 2 - 5) + 'line<br>'.repeat(20_000)
    expect(readWithin(html).length).toBeLessThan(html.length * 15)
  })

  test('cells that claim many columns get few', () => {
    expect(readWithin(`<table><tr>${'<td colspan=9999999>a'.repeat(1_000)}</table>`).length).toBeLessThan(
      500_000,
    )
  })

  test('cells that reach down without end do not unfold a page', () => {
    const rows = '<tr><td rowspan=9999999>a'.repeat(10_000)
    expect(readWithin(`<table>${rows}</table>`).length).toBeLessThan(1_000_000)
  })

  test('a large table is read in time', () => {
    const rows = '<tr><td>a<td>b'.repeat(50_000)
    expect(readWithin(`<table>${rows}</table>`).split('\n')).toHaveLength(50_002)
  })
})

test('many numbers above the line take no longer than as many words', () => {
  expect(readWithin(`<p>${'1<sup>2</sup> '.repeat(100_000)}</p>`)).toHaveLength(299_999)
})
