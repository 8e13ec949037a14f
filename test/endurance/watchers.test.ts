/** Watchers of a browser session come and go; what they cost goes with them. */
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { openSession } from '../support/browser-stage.ts'
import { testApp } from '../support/build-app.ts'
import { type Channel, openChannel } from '../support/cast-client.ts'
import { scaled } from '../support/endurance.ts'
import { eventually } from '../support/eventually.ts'
import { seededRandom } from '../support/random.ts'
import { startSite } from '../support/site-server.ts'

const watchers = 20
const lastsMs = scaled(120_000)

const animated = `<title>Moving</title><canvas id="c"></canvas><script>
  const context = c.getContext('2d')
  const draw = time => { context.fillStyle = 'hsl(' + (time / 5) % 360 + ' 90% 50%)'; context.fillRect(0, 0, 300, 150); requestAnimationFrame(draw) }
  requestAnimationFrame(draw)
</script>`

it('20 who come and go leave no screencast, connection, listener or timer', async () => {
  const app = await testApp({ environment: { OUTBOUND_ALLOW: '127.0.0.1' } })
  const origin = await app.listen()
  await using site = await startSite(() => animated)
  const { id, session } = await openSession(app)
  await (await session.page()).goto(site.url)
  const { cdp } = session.activeTab ?? {}
  if (cdp === undefined) throw new Error('There is no tab.')
  const sent = vi.spyOn(cdp, 'send')
  const count = (method: string) => sent.mock.calls.filter(([name]) => name === method).length
  const { next: random } = seededRandom(1)
  const channels = ['cast', 'cast', 'cast', 'logs', 'pageId']

  async function comeAndGo(until: number): Promise<number> {
    let visits = 0
    for (; performance.now() < until; visits += 1) {
      const name = channels[Math.floor(random() * channels.length)]
      const channel: Channel = await openChannel(origin, `/v1/sessions/${name}?sessionId=${id}`)
      if (name === 'cast') await channel.next(({ type }) => type === 'status')
      await delay(random() * 500)
      // Some go without a word.
      if (random() < 0.3) channel.socket.terminate()
      else await channel[Symbol.asyncDispose]()
    }
    return visits
  }

  const listeners = () => session.events.eventNames().map(name => session.events.listenerCount(name))
  const resources = () => process.getActiveResourcesInfo().filter(name => name !== 'Immediate').length
  const before = { listeners: listeners(), resources: resources() }
  const until = performance.now() + lastsMs
  const visits = await Promise.all(Array.from({ length: watchers }, () => comeAndGo(until)))
  expect(Math.min(...visits)).toBeGreaterThan(1)
  await eventually(() => expect(app.service.app.websocketServer.clients.size).toBe(0))
  await eventually(() => expect(count('Page.stopScreencast')).toBe(count('Page.startScreencast')))
  expect(count('Page.startScreencast')).toBeGreaterThan(0)
  expect(listeners()).toEqual(before.listeners)
  // Connections that are being closed, and those of the pool of the site, come and go.
  await eventually(() => expect(resources()).toBeLessThanOrEqual(before.resources + 5))
})
