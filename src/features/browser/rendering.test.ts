import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { row } from '#test/spec/row.ts'
import type { TestApp } from '#test/support/build-app.ts'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import { crawl, crawlAgain, forCrawls, pathsOf } from '#test/support/crawl.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { openaiText, openaiToolCall } from '#test/support/model-server.ts'
import { page, type Site, type SiteAnswer, startSite } from '#test/support/site-server.ts'
import { BrowserSession } from './sessions/browser-session.ts'

/** A site whose pages are all the same file: a script asks for their text, and writes it with its links. */
const shell = `<!doctype html><title>App</title><body><div id="root"></div><img src="/picture.png"><script>
  fetch('/data' + location.pathname).then(answer => answer.json()).then(({ title, text, links }) => {
    document.title = title
    document.getElementById('root').innerHTML = '<main><h1>' + title + '</h1><p>' + text + '</p>' +
      links.map(link => '<a href="' + link + '">' + link + '</a>').join(' ') + '</main>'
  })</script>`

const texts: Record<string, { title: string; text: string; links: string[] }> = {
  '/': { title: 'Harbour', text: 'Ships come and go.', links: ['/tides', '/gates', '/private', '/away'] },
  '/tides': { title: 'Tides', text: 'High at noon in Zweidorf.', links: ['/'] },
  '/gates': { title: 'Gates', text: 'They close at 340 centimetres.', links: ['/deep'] },
  '/deep': { title: 'Deep', text: 'The bottom.', links: [] },
}

let stage: ChatStage
let scripted: Site
const rendered = vi.spyOn(BrowserSession, 'open')

beforeAll(async () => {
  scripted = await startSite(({ path }) => {
    if (path === '/robots.txt')
      return { headers: { 'content-type': 'text/plain' }, body: 'User-agent: *\nDisallow: /private' }
    if (path.startsWith('/data'))
      return {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(texts[path.slice(5)] ?? {}),
      }
    if (path === '/away') return '<script>location = "http://192.168.0.1/"</script>'
    return path in texts ? shell : undefined
  })
  stage = await setChatStage({ environment: forCrawls })
})

afterAll(async () => {
  await stage[Symbol.asyncDispose]()
  await scripted[Symbol.asyncDispose]()
})

beforeEach(() => {
  rendered.mockClear()
})

describe(`a site that scripts write ${row('POST /api/agents/{id}/sources/crawl')}`, () => {
  it('is crawled whole, within its rules, and again', async () => {
    const source = await crawl(stage.app, { url: scripted.url })
    expect([source.status, pathsOf(source)]).toEqual(['ready', ['/', '/deep', '/gates', '/tides']])
    expect(source.config).toMatchObject({ render: 'auto' })
    expect(scripted.asked()).not.toContain('/private')
    expect(scripted.asked()).not.toContain('/picture.png')
    const { body } = await stage.app.call<{ results: { content: string }[] }>(
      'GET',
      `/api/agents/default/sources/search?query=Zweidorf&source_id=${source.id}`,
    )
    expect(body.results[0]?.content).toContain('High at noon in Zweidorf.')
    const tides = texts['/tides']
    if (tides) tides.text = 'Low at noon in Zweidorf.'
    expect((await crawlAgain(stage.app, source.id)).config).toMatchObject({
      changedPages: 1,
      unchangedPages: 3,
    })
  })

  it('is read as it was sent where that is wished', async () => {
    const source = await crawl(stage.app, { url: scripted.url, render: 'never' })
    expect(source).toMatchObject({ status: 'error' })
    expect(rendered).not.toHaveBeenCalled()
  })

  it('is read by browse_url, too', async () => {
    const path = await stage.makeChat()
    const url = `${scripted.url}/gates`
    stage.model.next({ stream: openaiToolCall('browse_url', { url }) }, { stream: openaiText('Read.') })
    const { body } = await stage.send(path, { content: 'When?', autoRag: false })
    expect(body.assistantMessage.toolResults).toMatchObject([
      { result: { url, title: 'Gates', markdown: expect.stringContaining('340 centimetres') } },
    ])
    expect(body.assistantMessage.metadata?.pages).toMatchObject([{ url, title: 'Gates' }])
  })
})

describe('pages whose text comes late', () => {
  const write = (text: string) => `document.getElementById('root').innerHTML = '<main><p>${text}</p></main>'`
  const get = (path: string, then: string) =>
    `fetch('${path}').then(it => it.text()).then(text => { ${then} })`
  const written = `document.getElementById('root').innerHTML = '<main><p>' + text + '</p></main>'`
  const later = (ms: number, work: string) => `setTimeout(() => { ${work} }, ${ms})`
  const kinds: Record<string, { shown?: string; script: string; text: string }> = {
    'early-request': { script: get('/slow?Heron', written), text: 'Heron' },
    'two-requests': {
      shown: 'Loading birds…',
      script: get('/slow?1', `${get('/slow?Stork', written)}`),
      text: 'Stork',
    },
    timer: { shown: 'Wird geladen …', script: later(900, write('Crane')), text: 'Crane' },
    empty: { script: later(1300, write('Egret')), text: 'Egret' },
    skeleton: {
      shown: '<div class="card-skeleton" style="height: 20px"></div>',
      script: later(900, write('Ibis')),
      text: 'Ibis',
    },
    busy: {
      shown: '<section aria-busy="true">Birds</section>',
      script: later(900, write('Spoonbill')),
      text: 'Spoonbill',
    },
    'late-script': {
      shown: '請稍候…',
      script: `${later(50, "const late = document.createElement('script'); late.src = '/script.js'; document.body.append(late)")}`,
      text: 'Bittern',
    },
    'in-parts': {
      shown: '<p>Birds of the shore are many, and most of them are seen in May.</p>',
      script: later(350, `document.getElementById('root').append('Avocet')`),
      text: 'Avocet',
    },
    'without-end': {
      script: `new EventSource('/events'); fetch('/events'); fetch('/poll'); setInterval(() => document.title = Date.now());
        const again = () => fetch('/again').then(() => setTimeout(again, 50)); again(); ${write('Curlew <i id="clock"></i>')};
        setInterval(() => document.getElementById('clock').textContent = Date.now(), 100)`,
      text: 'Curlew',
    },
  }

  it('are read once it is there', async () => {
    const paths = Object.keys(kinds).map(name => `/${name}`)
    const answers: Record<string, (query: string) => Promise<SiteAnswer> | SiteAnswer | string> = {
      '': () => page('Birds', paths, 'Much is said here. '.repeat(20)),
      again: () => '',
      slow: query => delay(400, { body: query }),
      'script.js': () =>
        delay(400, { headers: { 'content-type': 'text/javascript' }, body: write('Bittern') }),
    }
    const site = await startSite(({ path }, response) => {
      if (path === '/poll') return null
      if (path === '/events') {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
        return null
      }
      const [name = '', query = ''] = path.slice(1).split('?')
      const { shown = '', script = '' } = kinds[name] ?? {}
      const scripted = `<meta charset="utf-8"><div id="root">${shown}</div><script>${script}</script>`
      return answers[name]?.(query) ?? (name in kinds ? scripted : undefined)
    })
    try {
      const source = await crawl(stage.app, { url: site.url })
      expect(source.config.failedPages).toEqual([])
      for (const [name, { text }] of Object.entries(kinds)) {
        const found = await chunksOf(stage.app, source.id, text)
        expect(found[`/${name}`], name).toContain(text)
        expect(JSON.stringify(found)).not.toMatch(/Loading|geladen|稍候/)
      }
      expect(rendered).toHaveBeenCalledTimes(paths.length)
    } finally {
      await site[Symbol.asyncDispose]()
    }
  })

  it('are kept with what they show where nothing follows, which is said; a good copy stays', async () => {
    const clock = manualClock()
    const patient = await setChatStage({ environment: forCrawls, clock })
    const passing = setInterval(() => clock.advance(1000), 50)
    let isWhole = true
    const waiting = (shown: string) =>
      `<meta charset="utf-8"><title>Wait</title><div id="root">${shown}</div><script></script>`
    const site = await startSite(({ path }) => {
      if (path === '/') return page('Start', ['/spins', '/says', '/empty', '/once'])
      if (path === '/once' && isWhole) return page('Once')
      return (
        { '/spins': waiting('Shop<p class="spinner">◌</p>'), '/empty': waiting('') }[path] ??
        waiting('Loading…')
      )
    })
    try {
      const source = await crawl(patient.app, { url: site.url })
      const failed = (path: string, shown: string, then = '') => ({
        url: `${site.url}${path}`,
        reason: `Within 10 s its scripts wrote ${shown}.${then}`,
      })
      const asItWas = ' It is kept as it was then.'
      const expected = [
        failed('/spins', 'only a skeleton or a spinner', asItWas),
        failed('/says', 'only "Loading…"', asItWas),
        failed('/empty', 'no text'),
      ]
      expect(source.config.failedPages).toEqual(expected)
      expect(pathsOf(source)).toEqual(['/', '/once', '/says', '/spins'])
      isWhole = false
      const again = await crawlAgain(patient.app, source.id)
      expect(again.config.failedPages).toEqual([
        ...expected,
        failed('/once', 'only "Loading…"', ' Its last good copy is kept.'),
      ])
      expect((await chunksOf(patient.app, source.id, 'Once'))['/once']).toContain('tells of Once')
    } finally {
      clearInterval(passing)
      await site[Symbol.asyncDispose]()
      await patient[Symbol.asyncDispose]()
    }
  })
})

/** The texts that search finds, by the paths of their pages. */
async function chunksOf(app: TestApp, sourceId: string, query: string): Promise<Record<string, string>> {
  const parameters = new URLSearchParams({ query, source_id: sourceId, limit: '50' })
  const { body } = await app.call<{ results: { content: string; metadata: { url: string } }[] }>(
    'GET',
    `/api/agents/default/sources/search?${parameters}`,
  )
  return Object.fromEntries(
    body.results.map(({ content, metadata }) => [new URL(metadata.url).pathname, content]),
  )
}

describe('a plain site', () => {
  const pages: Record<string, string> = {
    '/': `${page('Start', ['/leaf'])}<script src="/counter.js"></script><p>${'Much is said here. '.repeat(20)}</p>`,
    '/leaf': page('Leaf'),
  }

  it('opens no browser, unless all its pages are to be rendered', async () => {
    const plain = await startSite(({ path }) => pages[path])
    try {
      const source = await crawl(stage.app, { url: plain.url })
      expect(pathsOf(source)).toEqual(['/', '/leaf'])
      expect(rendered).not.toHaveBeenCalled()
      const always = await crawl(stage.app, { url: plain.url, render: 'always' })
      expect(pathsOf(always)).toEqual(['/', '/leaf'])
      expect(rendered).toHaveBeenCalledTimes(2)
    } finally {
      await plain[Symbol.asyncDispose]()
    }
  })
})
