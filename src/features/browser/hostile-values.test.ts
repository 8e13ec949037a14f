import { beforeAll, describe, expect, it } from 'vitest'
import { browserStage, openSession } from '#test/support/action-stage.ts'

const mebibyte = 1024 * 1024
const html = `<!doctype html><title>Page</title><body><div id=long></div><input type=password value=hidden-4711><script>
  const text = 'é'.repeat(5e5) + '\u{1f600}'.repeat(5e4)
  const long = document.querySelector('#long')
  long.textContent = text
  for (const name of ['value', 'title']) long.setAttribute(name, text)
  document.title = 'hidden-4711'.padEnd(2e7, 'x')
</script>`
/** Puts functions of its own in the place of those that could be called to read it. */
const takeover = `<script>
  globalThis.eval = () => () => text
  globalThis.String = JSON.stringify = () => text
  TextEncoder.prototype.encodeInto = () => ({ read: 1e9 })
  String.prototype.slice = String.prototype.trim = Array.prototype.map = Array.prototype.push = () => text
  Object.keys = Object.entries = () => [text]
  Object.is = () => true
  Promise.prototype.then = Object.prototype.toJSON = () => text
  document.querySelector = () => ({ href: text })
</script>`
const pages: Record<string, string> = { '/': html, '/hostile': html + takeover }
const stage = browserStage(({ path }) => pages[path])

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

describe('an action is answered within its time-out and two seconds', () => {
  it.each([
    ['an endless loop', 'while (true);'],
    ['loops that begin later', 'setInterval(() => { while (true); }, 10), 7'],
    ['dialogs without end', 'while (true) confirm("again?")'],
    ['a promise that never settles', 'new Promise(() => {})'],
    [
      'a page that does not let go',
      'onbeforeunload = event => { event.preventDefault(); while (true); }; location = "/"',
    ],
    [
      'a text of half the memory, again and again',
      'setInterval(() => console.log("x".repeat(1e6)), 1), "x".repeat(5e8)',
    ],
  ])('whatever there is: %s', async (_name, expression) => {
    const usual = await timed(() => stage.run({ action: 'navigate', url: stage.site.url }))
    let status = 0
    const spent = await timed(async () => {
      status = (await stage.run({ action: 'evaluate', expression, timeout: 500 })).status
    })
    // On a busy machine, what is done at the end takes its time, too.
    expect(spent).toBeLessThan(2500 + 5 * usual)
    expect([200, 400, 408, 409, 500]).toContain(status)
    const path = `/api/agents/default/browser/${stage.sessionId}`
    const { body } = await stage.app.call<{ status: string }>('GET', path)
    if (body.status !== 'active') stage.sessionId = await openSession(stage.app)
  })
})

describe.each(['/', '/hostile'])('a value of the page %s', path => {
  beforeAll(() => stage.result({ action: 'navigate', url: stage.site.url + path }))

  it.each<[expression: string, action: object, expected: object]>([
    ['a text', { expression: '"short"' }, { value: 'short' }],
    ['a text that is not long in characters', { expression: '"é".repeat(1e6)' }, { truncated: true }],
    ['a text of half the memory', { expression: '"x".repeat(5e8)' }, { truncated: true }],
    ['a promise of a text', { expression: 'Promise.resolve("x".repeat(2e6))' }, { truncated: true }],
    ['what is thrown', { expression: 'throw "x".repeat(5e8)' }, { code: 'BROWSER_FAILED' }],
    ['an array', { expression: 'Array.from({ length: 2e6 }, () => 1)' }, { code: 'VALIDATION_ERROR' }],
    [
      'JSON that pretends to be short',
      { expression: '({ toJSON: () => "x".repeat(2e6) })' },
      { code: 'VALIDATION_ERROR' },
    ],
    [
      'JSON of very many levels',
      { expression: 'JSON.stringify = () => "[".repeat(4e5) + "]".repeat(4e5); ({})' },
      { code: 'VALIDATION_ERROR' },
    ],
  ])('that is %s stays within 1 MiB', async (_name, action, expected) => {
    const { body } = await stage.run({ action: 'evaluate', timeout: 20_000, ...action })
    // A page that lies about lengths gets less told, never more.
    if (path === '/') expect({ ...body.result, ...body.error }).toMatchObject(expected)
    expect(Buffer.byteLength(String(body.result?.value ?? body.error?.message))).toBeLessThanOrEqual(mebibyte)
  })

  it.each(['text', 'html', 'value', 'title'])('that is extracted as %s is cut', async attribute => {
    const { value, truncated } = await stage.result({ action: 'extract', selector: '#long', attribute })
    expect(truncated).toBe(true)
    const bytes = Buffer.byteLength(String(value))
    expect([bytes <= mebibyte, bytes > mebibyte - 4, String(value).isWellFormed()]).toEqual([
      true,
      true,
      true,
    ])
  })

  it('is masked, also where pages show it', async () => {
    const { value } = await stage.result({ action: 'extract', selector: 'input', attribute: 'value' })
    expect(value).toBe('********')
    const { title } = await stage.result({ action: 'scroll', direction: 'down' })
    expect(title).toMatch(/^\*{8}x{481,489}$/)
  })
})
