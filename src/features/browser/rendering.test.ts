import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { row } from '#test/spec/row.ts'
import type { ChatStage } from '#test/support/chat-stage.ts'
import { setChatStage } from '#test/support/chat-stage.ts'
import { crawl, crawlAgain, forCrawls, pathsOf } from '#test/support/crawl.ts'
import { openaiText, openaiToolCall } from '#test/support/model-server.ts'
import type { Site } from '#test/support/site-server.ts'
import { page, startSite } from '#test/support/site-server.ts'
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
