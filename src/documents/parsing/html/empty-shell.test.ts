import { describe, expect, it } from 'vitest'
import { isEmptyShell } from './empty-shell.ts'
import { parseHtml } from './html-tree.ts'

const text = (characters: number) => `<p>${'word '.repeat(characters / 4)}</p>`
const script = '<script src="/app.js"></script>'

describe('an empty shell is a page', () => {
  it.each([
    ['that is nothing but a script', script],
    ['whose frame is empty', `<header>Menu</header><div id="root"></div>${script}`],
    ['with a menu around an empty frame', `${text(600)}<div id="app"> </div>${script}`],
    [
      'that asks for JavaScript',
      `${text(600)}<noscript>Please enable JavaScript to go on.</noscript>${script}`,
    ],
    ['that says it is loading', `${text(600)}<div id="root"><p>Loading…</p></div>${script}`],
    ['with a skeleton', `${text(600)}<div class="card-skeleton"><i></i></div>${script}`],
    ['with a spinner', `${text(600)}<div class="MuiSpinner-root"></div>${script}`],
    ['that is busy', `${text(600)}<section aria-busy="true"></section>${script}`],
    ['with an empty main part', `${text(600)}<main></main>${script}`],
    [
      'with a long menu',
      `<nav>${text(2000)}</nav><footer>${text(900)}</footer><div id="app"></div>${script}`,
    ],
    ['of a module', '<app-root></app-root><script type="module">import "/app.js"</script>'],
  ])('%s', (_what, body) => {
    expect(isEmptyShell(parseHtml(`<title>App</title><body>${body}`))).toBe(true)
  })

  it.each([
    ['that says little without any script', '<h1>Tides</h1><p>High at noon.</p>'],
    ['with data, but no program', `<script type="application/ld+json">{}</script><p>Tides</p>`],
    ['that says something', `${text(300)}${script}`],
    ['whose frame is filled', `<div id="root">${text(300)}</div>${script}`],
    ['that says much, with a frame for more', `${text(1200)}<div id="app"></div>${script}`],
    ['with a hidden spinner', `${text(600)}<div class="loader" style="display: none"></div>${script}`],
    ['with a picture that comes late', `${text(600)}<i class="lazy-loading"></i>${script}`],
    [
      'that says much, and more with JavaScript',
      `${text(1200)}<noscript>Enable JavaScript</noscript>${script}`,
    ],
  ])('not one %s', (_what, body) => {
    expect(isEmptyShell(parseHtml(`<title>Page</title><body>${body}`))).toBe(false)
  })
})
