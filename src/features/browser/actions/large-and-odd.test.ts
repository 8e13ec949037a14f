import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { browserPath, browserStage, type Executed } from '#test/support/action-stage.ts'
import { seededRandom } from '#test/support/random.ts'

const html = (title: string, body: string) => `<!doctype html><title>${title}</title><body>${body}`
const pages: Record<string, string> = {
  '/form': html(
    'Form',
    '<form><label>Name <input></label><select><option>A</select><input type="file"></form>',
  ),
}
const stage = browserStage(({ path }) => pages[path])
const open = (path: string) => stage.result({ action: 'navigate', url: stage.site.url + path })
const path = () => `${browserPath}/${stage.sessionId}`

describe('the outline of a page', () => {
  const outlines = async (given: object = {}) =>
    String((await stage.result({ action: 'outline', ...given })).outline)

  it('fits, however large the page is', async () => {
    pages['/huge'] = html(
      'Huge',
      Array.from(
        { length: 5000 },
        (_, at) => `<p>Text ${at}</p><a href="/${at}">L ${at}</a><button>B</button><div></div>`,
      ).join(''),
    )
    await open('/huge')
    const text = await outlines()
    expect(text.length).toBeLessThanOrEqual(12_000)
    expect(text).toContain('link "L 1" [ref=')
    expect(text).toMatch(/… [\d,]+ more below/)
  })

  it('is of what lies nearest to the window, in frames too, and finds words anywhere', async () => {
    pages['/fields'] = html(
      'Fields',
      `<iframe src="/huge"></iframe><script>document.body.insertAdjacentHTML('beforeend',
        '<input type=password value=first-4711>' + '<input type=password>'.repeat(5000) + '<button>Last</button>')</script>`,
    )
    await open('/fields')
    const text = await outlines()
    expect(text.length).toBeLessThanOrEqual(12_000)
    expect(text).toMatch(/textbox \[ref=\w+\]: \*{8}\n/)
    expect(text).toContain('link "L 1" [ref=')
    expect(text).toContain('The page is large')
    const found = await outlines({ find: 'text 4999' })
    expect(found).toContain('paragraph: Text 4999')
    const last = /button "Last" \[ref=(\w+)\]/.exec(await outlines({ find: 'last' }))?.[1]
    expect(await stage.result({ action: 'hover', selector: `ref=${last}` })).toMatchObject({
      title: 'Fields',
    })
  })

  const fixtures = process.env.REAL_FIXTURES
  it.skipIf(!fixtures)('fits on a real article (needs REAL_FIXTURES)', async () => {
    pages['/article'] = readFileSync(`${fixtures}/html/real-pages/markitdown-wikipedia.html`, 'utf8')
    await open('/article')
    const text = await outlines()
    expect(text.length).toBeLessThanOrEqual(12_000)
    expect(text).toMatch(/heading .*\[level=1\]/)
  })
})

describe('fuzzed actions', () => {
  it('are answered in their own words', async () => {
    const { next: random, pick } = seededRandom(2611)
    const odd = [
      undefined,
      null,
      '',
      ' ',
      '#[',
      '*',
      '::before',
      'text="',
      'xpath=//*',
      'role=button',
      'ref=e1',
      -1,
      1e9,
      [],
      {},
      'a'.repeat(3000),
      '\u0000',
      '💥',
      'about:blank',
      'F13',
      '1/0',
      '(() => { throw 1 })()',
      'close()',
      'document.write("")',
    ]
    const names = [
      'click',
      'type',
      'press',
      'screenshot',
      'extract',
      'scroll',
      'wait',
      'hover',
      'select',
      'upload',
      'evaluate',
      'outline',
      'navigate',
    ]
    const fields = [
      'selector',
      'text',
      'key',
      'url',
      'attribute',
      'direction',
      'amount',
      'state',
      'value',
      'values',
      'files',
      'expression',
      'find',
      'full_page',
    ]
    await open('/form')
    for (let round = 0; round < 150; round += 1) {
      const given = Object.fromEntries(
        fields.filter(() => random() < 0.6).map(field => [field, pick<unknown>(odd)]),
      )
      const body = { action: pick(names), timeout: 100, ...given }
      const answer = await stage.app.call<Executed>('POST', `${path()}/execute`, { body })
      const code = answer.body.error?.code
      const told = [200, 400, 408, 500].includes(answer.status) && code !== 'INTERNAL_ERROR'
      expect(told, `${JSON.stringify(body)} → ${JSON.stringify(answer.body)}`).toBe(true)
    }
  })
})
