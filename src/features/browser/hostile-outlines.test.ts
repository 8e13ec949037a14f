import { expect, it } from 'vitest'
import { browserPath, browserStage } from '#test/support/action-stage.ts'

const go = `<div onclick="document.title = 'Gone'">Go</div>`
const pages: Record<string, string> = {
  '/many': `<!doctype html>${go}${'<p></p>'.repeat(2000)}<script>
    for (const element of document.querySelectorAll('p')) for (let at = 0; at < 60; at += 1) element.addEventListener('click', () => {})
  </script>`,
  '/long': `<!doctype html><div contenteditable>Go</div><script>document.body.addEventListener('x'.repeat(2e7), () => {})</script>`,
  '/named': `<!doctype html><form onclick=""><input type="hidden" name="id"><input type="hidden" name="control"><br></form>${go}`,
  '/large': `<!doctype html><form><input name="children" type="number" aria-label="Children">${go}</form>${'<p>Line</p>'.repeat(3000)}`,
}
const stage = browserStage(({ path }) => pages[path])

it.each([
  ['has handlers of events with very long names', '/long', 'textbox "Go" [ref='],
  ['has a form with fields that are named as its properties', '/named', 'clickable "Go"'],
  ['is large, and has such a form', '/large', '"Children"'],
  ['has very many handlers', '/many', 'Go'],
])('a page can be read that %s', async (_name, path, line) => {
  await stage.result({ action: 'navigate', url: stage.site.url + path })
  const { outline } = await stage.result({ action: 'outline' })
  expect(outline).toContain(line)
  const { body } = await stage.app.call('GET', `${browserPath}/${stage.sessionId}`)
  expect(body).toMatchObject({ status: 'active' })
})
