import { expect, it } from 'vitest'
import { setNodeStage } from '#test/support/node-stage.ts'
import type { Browser } from './browser.ts'
import { createBrowserSessions } from './browser.ts'
import { createClick } from './click.ts'
import { createNavigate } from './navigate.ts'

const page = { url: 'https://example.com/', title: 'Example' }

it('nodes of one execution share a browser session, which ends with it', async () => {
  const calls: unknown[] = []
  const browser: Browser = {
    async act(_agent, holder, action) {
      calls.push([holder, action])
      return page
    },
    async release(_agent, holder) {
      calls.push([holder, 'released'])
    },
  }
  const sessions = createBrowserSessions(browser)
  const context = (data: object) =>
    ({ data, execution: { id: '1' }, signal: AbortSignal.timeout(1000) }) as never
  const opened = await createNavigate(sessions).run(context({ url: page.url, wait_for: '#main' }))
  const clicked = await createClick(sessions).run(context({ selector: 'a' }))
  expect([opened, clicked]).toEqual([{ output: page }, { output: page }])
  for (const id of ['2', '1', '1']) await sessions.release({} as never, id)
  const holder = 'execution:1'
  expect(calls).toEqual([
    [holder, { action: 'navigate', url: page.url }],
    [holder, { action: 'wait', selector: '#main' }],
    [holder, { action: 'click', selector: 'a' }],
    [holder, 'released'],
  ])
})

it.each([
  { type: 'navigate', url: 'https://example.com/' },
  { type: 'click', selector: 'a' },
])('without a browser the node says so: %j', async node => {
  await using stage = await setNodeStage()
  const agent = await stage.newAgent()
  const { status, error, attempts } = await agent.runNode({ ...node, retries: { max: 2, delay_seconds: 0 } })
  expect([status, attempts, error]).toEqual(['errored', 1, expect.stringContaining('no browser')])
  expect((await agent.save({ ...node, force: true }, 'draft')).status).toBe(400)
  expect((await agent.save({ type: node.type }, 'draft')).body.warnings).toHaveLength(1)
})
