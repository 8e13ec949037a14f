import { expect, onTestFinished, test, vi } from 'vitest'
import { testApp } from '#test/support/build-app.ts'
import type { ReadPage } from './crawl.worker.ts'
import type { Site } from './crawl-state.ts'
import type { FetchedPage } from './fetch-page.ts'
import { ownUrl } from './own-url.ts'

const { signal } = new AbortController()

test('however long a host lets wait for the turn, an address is asked for as long as any other', async () => {
  const app = await testApp()
  let isItsTurn = false
  const timeout = vi.spyOn(AbortSignal, 'timeout')
  onTestFinished(() => timeout.mockRestore())
  timeout.mockImplementation(() => (isItsTurn ? new AbortController().signal : AbortSignal.abort()))
  const fetchGone: typeof fetch = async (_url, init) => {
    init?.signal?.throwIfAborted()
    return new Response(null, { status: 404 })
  }
  const pass: Site['gates']['pass'] = (_origin, _wait, work) => {
    isItsTurn = true
    return work()
  }
  const found = await app.service.infrastructure.agentDatabases.use('default', ({ db }) => {
    const site = {
      ...{ db, sourceId: 'source', rules: { robots: { kind: 'none' }, pauseMs: 30_000 } },
      threads: { allowed: async () => [true] },
      outbound: { fetchFunction: () => fetchGone },
      ...{ gates: { pass }, namedAddresses: new Map() },
    } as unknown as Site
    const read = { canonical: 'http://x/lost', omitted: undefined } as ReadPage
    return ownUrl(site, { url: 'http://x/page' } as FetchedPage, read, signal)
  })
  expect(found).toBe('http://x/page')
})
