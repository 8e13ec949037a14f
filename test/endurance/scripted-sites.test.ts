/** Sites of one page each that their scripts write after as long as real ones take, each in another way. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { crawl, forCrawls, pathsOf } from '#test/support/crawl.ts'
import { isFullEndurance } from '#test/support/endurance.ts'
import { startSite } from '#test/support/site-server.ts'

let app: TestApp

beforeAll(async () => {
  app = await buildApp({ environment: { ...forCrawls, DEV_USER: 'dev@example.com' } })
})

afterAll(() => app.close())

const words = isFullEndurance ? ['Alder', 'Birch', 'Cedar', 'Damson', 'Elder'] : ['Alder']
const scale = isFullEndurance ? 1 : 0.1
const text = (word: string) => `${word} grows at the river, and was planted there long ago.`

it.each([
  { delayMs: 100, shown: '', isRequested: true },
  { delayMs: 700, shown: 'Loading…', isRequested: false },
  { delayMs: 1500, shown: '<div class="skeleton" style="height: 40px"></div>', isRequested: true },
  { delayMs: 3000, shown: 'Bitte warten …', isRequested: false },
  { delayMs: 5000, shown: '<h1>Trees</h1><p>Of our river</p>', isRequested: true },
])('a site that shows "$shown" for $delayMs ms is read whole', async ({ delayMs, shown, isRequested }) => {
  const site = await startSite(async ({ path }) => {
    if (path.startsWith('/data'))
      return await delay(scale * delayMs, { body: text(words[Number(path.slice(6))] ?? '') })
    const at = Number(path.slice(1))
    const links = words.map((_, to) => `<a href="/${to}">${to}</a>`).join(' ')
    const put = `text => root.innerHTML = '<main><p>' + text + '</p>${links}</main>'`
    const script = isRequested
      ? `fetch('/data/${at}').then(it => it.text()).then(${put})`
      : `setTimeout(() => (${put})('${text(words[at] ?? '')}'), ${scale * delayMs})`
    return `<meta charset="utf-8"><div id="root">${shown}</div><script>${script}</script>`
  })
  try {
    const source = await crawl(app, { url: `${site.url}/0` })
    expect(pathsOf(source)).toEqual(words.map((_, at) => `/${at}`))
    expect(source.config.failedPages).toEqual([])
    for (const word of words) {
      const { body } = await app.call<{ results: { content: string }[] }>(
        'GET',
        `/api/agents/default/sources/search?query=${word}&source_id=${source.id}`,
      )
      expect(body.results[0]?.content).toContain(text(word))
      expect(JSON.stringify(body.results)).not.toMatch(/Loading|warten/)
    }
  } finally {
    await site[Symbol.asyncDispose]()
  }
})
