import { describe, expect, test } from 'vitest'
import { readHtmlPage } from './html-page.ts'

function markdownOf(html: string): string {
  return readHtmlPage({ html, url: 'https://tide.example/' }).markdown
}

/** The longest part of a page. */
const long = Array.from(
  { length: 6 },
  (_, at) => `<p>The pier has a ${at}th paragraph, which has commas, and is long.</p>`,
).join('')
const facts = (before: string, between: string, after: string) =>
  ['Hours', 'Fees', 'Place'].map(name => `${before}${name}${between}${name} are known${after}`).join('')

describe('all that a page shows, or would after a click, is its text', () => {
  test.each([
    ['before a long text', `<main>${facts('<section><h2>', '</h2><p>', '</p></section>')}${long}</main>`],
    ['after a long text', `<main>${long}${facts('<section><h2>', '</h2><p>', '</p></section>')}</main>`],
    ['without sections', `<main>${facts('<h2>', '</h2><p>', '</p>')}${long}</main>`],
    [
      'in columns',
      `<main><div><div>${long}</div><div>${facts('<div><b>', '</b> ', '</div>')}</div></div></main>`,
    ],
    ['beside an article', `<article>${long}</article><div>${facts('<p>', ': ', '</p>')}</div>`],
    ['in an aside', `<main>${long}</main><aside>${facts('<h3>', '</h3>', '')}</aside>`],
    ['in a footer', `<main>${long}</main><footer>${facts('<p>', ': ', '</p>')}</footer>`],
    ['in a header', `<header>${facts('<span>', ' ', '</span>')}</header><main>${long}</main>`],
    ['as definitions', `<main>${long}<dl>${facts('<dt>', '<dd>', '')}</dl></main>`],
    ['in a table', `<main>${long}</main><table>${facts('<tr><th>', '<td>', '')}</table>`],
    [
      'in tables for layout',
      `<table><tr><td><table><tr><td>${long}</table><td><table>${facts('<tr><td>', '<td>', '')}</table></table>`,
    ],
    ['as addresses', `<main>${long}</main><address>${facts('', '<br>', '<br>')}</address>`],
    [
      'in cards',
      `<main>${long}<ul>${facts('<li><a href="/a"><h4>', '</h4><span>', '</span></a></li>')}</ul></main>`,
    ],
  ])('facts %s', (_where, html) => {
    for (const part of ['Hours', 'Fees', 'Place']) expect(markdownOf(html)).toContain(`${part} are known`)
    for (const part of ['0th', '5th']) expect(markdownOf(html)).toContain(`${part} paragraph`)
  })

  test.each([
    ['<details><summary>Ebb?</summary><p>Twice.</p></details>', 'Ebb?\n\nTwice.'],
    ['<details name="x"><summary><h3>Ebb?</h3></summary>Twice.</details>', '### Ebb?\n\nTwice.'],
    ['<h3><button aria-expanded="false">Ebb?</button></h3><div hidden>Twice.</div>', '### Ebb?\n\nTwice.'],
    ['<button>Ebb?</button><div hidden="until-found">Twice.</div>', 'Ebb?\n\nTwice.'],
    ['<input type="button" value="Ebb?"><div aria-hidden="true">Twice.</div>', 'Ebb?\n\nTwice.'],
    ['<form action="/x"><p>Ebb?</p><p style="display:none">Twice.</p></form>', 'Ebb?\n\nTwice.'],
    [
      '<div role="tablist"><button role="tab">Ebb?</button></div><div role="tabpanel" hidden>Twice.</div>',
      'Ebb?\n\nTwice.',
    ],
    ['<a href="#a" role="button">Ebb?</a><div id="a" class="collapse">Twice.</div>', 'Ebb?\n\nTwice.'],
    ['<p>Ebb?</p><dialog>Twice.</dialog>', 'Ebb?\n\nTwice.'],
    ['<p>Ebb?</p><div inert role="dialog">Twice.</div>', 'Ebb?\n\nTwice.'],
    ['<fieldset><legend>Ebb?</legend><textarea>Twice.</textarea></fieldset>', 'Ebb?\n\nTwice.'],
    ['<label>Ebb? <select><option>Once<option>Twice</select></label>', 'Ebb?\n\n-   Once\n-   Twice'],
    ['<label>Ebb? <input value="Twice."></label>', 'Ebb? Twice.'],
    ['<p>Ebb?</p><output>Twice.</output>', 'Ebb?\n\nTwice.'],
    ['<p>Ebb?</p><svg><text>Twice.</text></svg>', 'Ebb?\n\nTwice.'],
    ['<p>Ebb?</p><a href="tel:+49123">Call</a>', 'Ebb?\n\n[Call](tel:+49123)'],
    ['<p>Ebb?</p><nav><h1>Tides</h1>Twice.', 'Ebb?\n\n# Tides\n\nTwice.'],
    [
      '<x-t><template shadowrootmode="open"><p>Ebb?</p><slot></slot></template>Twice.</x-t>',
      'Ebb?\n\nTwice.',
    ],
    [
      '<x-t><template shadowrootmode="closed"><p><slot name="q">?</slot></p>Twice.</template><b slot="q">Ebb?</b></x-t>',
      '**Ebb?**\n\nTwice.',
    ],
    [
      '<x-t><template shadowrootmode="open"><p>Ebb?</p><x-u><template shadowroot="open">Twice.</template></x-u></template></x-t>',
      'Ebb?\n\nTwice.',
    ],
    ['<x-t><template shadowrootmode="open"><p>Ebb?</p></template>Twice.</x-t>', 'Ebb?\n\nTwice.'],
  ])('%s', (html, markdown) => {
    for (const whole of ['main', 'div', 'article'])
      expect(markdownOf(`<${whole}>${html}</${whole}>`)).toBe(markdown)
  })

  test.each([
    '<nav>Menu</nav>',
    '<div role="navigation">Menu</div>',
    '<search><input value="Menu"></search>',
    '<form role="search"><button>Menu</button></form>',
    '<header><ul><li><a href="/a">Menu</a></li></ul></header>',
    '<div role="contentinfo"><ul><li><a href="/a">Menu</a><ul><li><a href="/b">Menu</a></li></ul></li></ul></div>',
    '<i class="icon" aria-hidden="true">Menu</i>',
    '<span class="material-symbols" aria-hidden="true">Menu</span>',
    '<template>Menu</template><script>Menu</script><noscript>Menu</noscript>',
    '<svg><title>Menu</title><defs><text>Menu</text></defs></svg>',
    '<input type="hidden" value="Menu"><input type="submit" value="Menu"><input type="password" value="Menu">',
  ])('but not %s', html => {
    expect(markdownOf(`${html}<main><h1>Tide<a href="#tide">¶</a></h1></main>`)).toBe('# Tide')
  })

  test.each([
    '<footer><ul><li><a href="/a">Menu</a></li><li>Open until six</li></ul></footer>',
    '<footer><ul><li><a href="tel:+49123">Open until six</a></li></ul></footer>',
    '<article><footer><ul><li><a href="/a">Open until six</a></li></ul></footer></article>',
    '<header><p><a href="/a">Open until six</a></p></header>',
  ])('as is %s', html => {
    expect(markdownOf(html)).toContain('Open until six')
  })
})
