import { expect, it } from 'vitest'
import { testApp } from '#test/support/build-app.ts'
import { eventually } from '#test/support/eventually.ts'
import { page, startSite } from '#test/support/site-server.ts'
import { workflowCalls } from '#test/support/workflows.ts'

it('nodes of one execution share a browser session, which ends with it', async () => {
  await using site = await startSite(({ path }) =>
    path === '/' ? page('Harbour', ['/tides']) : page('Tides'),
  )
  const app = await testApp({ environment: { OUTBOUND_ALLOW: '127.0.0.1' } })
  const { create, run, outputs } = workflowCalls(app)
  const nodes = {
    start: { type: 'trigger' },
    open: { type: 'navigate', url: '{{address}}', wait_for: 'a' },
    go: { type: 'click', selector: 'a' },
    lost: { type: 'click', selector: '#nowhere' },
  }
  const id = await create(nodes, ['start > open', 'open > go', 'go > lost'])
  const execution = await run(id, { address: site.url })
  expect(outputs(execution)).toMatchObject({
    open: { url: new URL('/', site.url).href, title: 'Harbour' },
    go: { url: new URL('/tides', site.url).href, title: 'Tides' },
  })
  expect(execution).toMatchObject({ status: 'errored', error: expect.stringContaining('#nowhere') })
  await eventually(async () => {
    const { body } = await app.call('GET', '/api/agents/default/browser')
    expect(body).toMatchObject({ sessions: [{ status: 'closed' }] })
  })
})
