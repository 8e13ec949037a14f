/** Pages that have their browser say as much as they can, of all kinds of which the protocol of DevTools has events. */

import type { Random } from '../random.ts'
import type { AnswerSite } from '../site-server.ts'

/** Statements that run in the page. `size` is of texts, in characters; `count` how often; none goes on for long by itself. */
type Bomb = (size: number, count: number) => string

const text = (size: number) => `${JSON.stringify('\u0001')}.repeat(${size})`
const times = (count: number, statement: string) => `for (let n = 0; n < ${count}; n += 1) { ${statement} }`

const bombs: Record<string, Bomb> = {
  'lines of the console': (size, count) => times(count, `console.log(${text(size / 100)} + n)`),
  'one line of the console': size => `console.error(${text(size)})`,
  'values of the console': (_size, count) =>
    `console.log(...Array(${count}).fill({ a: [{}] })); console.table(Array(${count}).fill([1]))`,
  alerts: (size, count) => times(Math.min(count, 20), `alert(${text(size)})`),
  prompts: (size, count) => times(Math.min(count, 20), `prompt(${text(size)}, ${text(size)}); confirm('x')`),
  'a question before leaving': () => `onbeforeunload = event => event.preventDefault()`,
  frames: (_size, count) =>
    times(
      count / 10,
      `document.body.append(Object.assign(document.createElement('iframe'), { src: '/frame?' + n }))`,
    ),
  'a frame with a long name': size =>
    `document.body.append(Object.assign(document.createElement('iframe'), { name: ${text(size)}, srcdoc: ${text(size)} }))`,
  'frames within each other': () =>
    `let inner = document; for (let n = 0; n < 30; n += 1) { const frame = inner.createElement('iframe'); inner.body.append(frame); inner = frame.contentDocument }`,
  'frames that come and go': (_size, count) =>
    times(
      count,
      `const frame = document.createElement('iframe'); document.body.append(frame); frame.remove()`,
    ),
  workers: (_size, count) =>
    times(count / 50, `new Worker('data:text/javascript,for(let n=0;n<1e4;n+=1)console.log(n);throw n')`),
  'web sockets': (size, count) =>
    times(
      count / 20,
      `const socket = new WebSocket('ws://' + location.host + '/' + n); socket.onopen = () => socket.send(${text(size)})`,
    ),
  downloads: (size, count) =>
    times(
      count / 50,
      `Object.assign(document.createElement('a'), { href: URL.createObjectURL(new Blob([${text(size)}])), download: n + ${text(1000)} }).click()`,
    ),
  windows: (size, count) => times(count / 20, `open('/frame?' + n, ${text(size / 100)} + n)`),
  'windows that close': (_size, count) => times(count / 20, `open('about:blank', '_' + n)?.close()`),
  bindings: size =>
    `for (const name of Object.getOwnPropertyNames(globalThis)) if (/^__|agentstead|playwright|send/i.test(name)) try { globalThis[name](${text(size)}) } catch {}`,
  'functions of the page': () =>
    `Object.prototype.toJSON = () => 'x'.repeat(1e7); Array.prototype.push = String.prototype.slice = () => { throw 1 }; globalThis.JSON = globalThis.Promise = undefined`,
  'a long title': size => `document.title = ${text(size)}`,
  'titles that change': (size, count) => times(count, `document.title = n + ${text(size / 1000)}`),
  'addresses that change': (size, count) =>
    times(count, `history.pushState(${text(10)}, '', '?' + n + 'x'.repeat(${Math.min(size, 1000)}))`),
  'parts of the address': (_size, count) => times(count / 10, `location.hash = n`),
  'another address again and again': (_size, count) =>
    `let left = ${count / 10}; const timer = setInterval(() => { location.search = left; left -= 1; if (left < 0) clearInterval(timer) }, 1)`,
  reloads: (_size, count) =>
    `const loads = Number(sessionStorage.loads ?? 0) + 1; sessionStorage.loads = loads; if (loads < ${count / 10}) location.reload()`,
  'service workers': (_size, count) =>
    times(count / 50, `navigator.serviceWorker.register('/worker.js?' + n, { scope: '/' + n })`),
  exceptions: (size, count) => times(count, `setTimeout(() => { throw new Error(${text(size / 100)} + n) })`),
  'promises that fail': (size, count) => times(count, `Promise.reject(${text(size / 100)} + n)`),
  'a deep exception': () => `const dive = n => n === 0 ? null.x : dive(n - 1); setTimeout(dive, 0, 5000)`,
  requests: (_size, count) => times(count, `fetch('/?' + n).catch(() => {})`),
  'a request with a large body': size =>
    `fetch('/', { method: 'POST', body: ${text(size)} }).catch(() => {})`,
  'requests with long addresses': (size, count) =>
    times(count / 10, `fetch('/?' + 'x'.repeat(${Math.min(size, 2_000_000)}) + n).catch(() => {})`),
  'headers without end': (_size, count) => times(count / 50, `fetch('/headers?' + n).catch(() => {})`),
  'fields of passwords': (_size, count) =>
    `document.body.innerHTML += '<input type=password value=4711>'.repeat(${count * 5})`,
  elements: (_size, count) =>
    `document.body.innerHTML += '<div title=x><button>b</button></div>'.repeat(${count * 10})`,
  'elements that change': (_size, count) =>
    times(count * 5, `document.body.dataset.n = n; document.body.append(n)`),
  'a loop of 3 s': () => `const end = Date.now() + 3000; while (Date.now() < end);`,
  print: () => `print()`,
  'the end of the window': () => `setTimeout(() => close(), 100)`,
}

const sizes = [1_000, 100_000, 4_000_000, 20_000_000]
const counts = [100, 1_000, 5_000]
/** When a bomb goes off. */
const moments: ((statements: string) => string)[] = [
  statements => statements,
  statements => `addEventListener('load', () => { ${statements} })`,
  statements => `setTimeout(() => { ${statements} }, 50)`,
  statements =>
    `let rounds = 0; const again = setInterval(() => { rounds += 1; if (rounds > 5) clearInterval(again); ${statements} }, 100)`,
]

export interface FuzzedPage {
  /** The bombs in it. */
  name: string
  html: string
}

/** One to three bombs at some moments. */
export function fuzzedPage({ next, pick }: Random): FuzzedPage {
  const names = Object.keys(bombs)
  const chosen = Array.from({ length: 1 + Math.floor(next() * 3) }, () => pick(names))
  // Each in a function of its own: none keeps the others from what they do.
  const scripts = chosen.map(name => {
    const statements = bombs[name]?.(pick(sizes), pick(counts)) ?? ''
    return `<script>(() => { ${pick(moments)(statements)} })()</script>`
  })
  return { name: chosen.join(', '), html: `<!doctype html><title>x</title><body>${scripts.join('')}` }
}

/** What the pages ask for, and the page that is shown. */
export function answerPages(shown: () => FuzzedPage): AnswerSite {
  return ({ path }) => {
    if (path.startsWith('/page')) return shown().html
    if (path.startsWith('/worker.js'))
      return {
        headers: { 'content-type': 'text/javascript', 'service-worker-allowed': '/' },
        body: 'for (let n = 0; n < 1e4; n += 1) console.log(n)',
      }
    if (path.startsWith('/headers'))
      return { headers: { 'x-long': 'x'.repeat(200_000), 'set-cookie': `a=${'x'.repeat(4_000)}` }, body: 'x' }
    return '<!doctype html><title>x</title><body>x<script>console.log(location.href)</script>'
  }
}
