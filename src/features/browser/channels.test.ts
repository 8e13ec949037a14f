import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { WebSocket } from 'ws'
import { limitRow, row } from '#test/spec/row.ts'
import { openSession } from '#test/support/browser-stage.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import {
  type CastMessage,
  type Channel,
  clicks,
  drags,
  type InputShape,
  modifier,
  openChannel,
  presses,
  specificationShape,
  steelShape,
  types,
} from '#test/support/cast-client.ts'
import { eventually } from '#test/support/eventually.ts'
import { type Site, sitePages, startSite } from '#test/support/site-server.ts'

const page = `<title>Shop</title><link rel="icon" href="/icon.png"><style>body { margin: 0 } * { position: absolute }</style>
  <button id="button" style="left: 100px; top: 100px; width: 100px; height: 50px">Press</button>
  <input id="first" style="left: 300px; top: 100px; width: 200px">
  <input id="second" style="left: 300px; top: 200px; width: 200px">
  <div id="area" style="left: 100px; top: 300px; width: 300px; height: 200px; background: #ccc"></div>
  <p style="left: 600px; top: 100px">Some words</p><div style="top: 3000px; height: 10px">End</div>
  <script>
    const seen = []
    const note = event => seen.push([event.type, event.button, event.buttons, event.detail])
    for (const type of ['click', 'dblclick']) button.addEventListener(type, note)
    for (const type of ['mousedown', 'mousemove', 'mouseup']) area.addEventListener(type, note)
  </script>`
const animated = `<title>Moving</title><canvas id="c" width="600" height="400"></canvas><script>
  const context = c.getContext('2d')
  const draw = time => { context.fillStyle = 'hsl(' + (time / 5) % 360 + ' 90% 50%)'; context.fillRect(0, 0, 600, 400); requestAnimationFrame(draw) }
  requestAnimationFrame(draw)
</script>`

const hostile = `<title>Hostile</title><link rel="icon" href="/icon.png"><input type="password" value="hidden"><script>
  String.prototype.slice = () => 'x'.repeat(1e6)
  globalThis.String = () => ({ toString: 1 })
  location.hash = 'x'.repeat(1e5)
</script>`

let app: TestApp
let origin: string
let site: Site

beforeAll(async () => {
  app = await buildApp({ environment: { DEV_USER: 'dev@example.com', OUTBOUND_ALLOW: '127.0.0.1' } })
  origin = await app.listen()
  site = await startSite(
    sitePages({ '/': page, '/other': '<title>Other</title>Other', '/moving': animated, '/hostile': hostile }),
  )
})

afterAll(async () => {
  await app.close()
  await site[Symbol.asyncDispose]()
})

const isFrame = ({ type, data }: CastMessage) => type === undefined && data !== undefined
const isOf = (type: string) => (message: CastMessage) => message.type === type

async function openPage(path = '/') {
  const { id, session } = await openSession(app)
  const opened = await session.page()
  await opened.goto(`${site.url}${path}`)
  const read = <Value>(expression: string) => opened.evaluate(expression) as Promise<Value>
  return { id, session, page: opened, read }
}

async function cast(id: string, parameters: Record<string, string> = {}): Promise<Channel> {
  const query = new URLSearchParams({ sessionId: id, ...parameters })
  const channel = await openChannel(origin, `/v1/sessions/cast?${query}`)
  onTestFinished(() => channel[Symbol.asyncDispose]())
  return channel
}

function sendAll(channel: Channel, ...messages: object[]): void {
  for (const message of messages.flat()) channel.send(message)
}

describe(`${row('GET /v1/sessions/cast')} what is seen`, () => {
  it('is the tabs, who drives, and at once the last frame of a page at rest, for whoever joins', async () => {
    const { id, session } = await openPage()
    const pageId = session.activeTab?.pageId
    await eventually(() => expect(session.activeTab?.title).toBe('Shop'))
    for (let watcher = 0; watcher < 2; watcher += 1) {
      const channel = await cast(id)
      const tab = { pageId, id: pageId, url: `${site.url}/`, title: 'Shop', favicon: `${site.url}/icon.png` }
      expect(await channel.next(isOf('tabList'))).toEqual({
        type: 'tabList',
        tabs: [tab],
        firstTabId: pageId,
      })
      expect(await channel.next(isOf('status'))).toMatchObject({
        status: 'active',
        may_drive: true,
        takeover: null,
      })
      const frame = await channel.next(isFrame)
      expect(frame).toMatchObject({ pageId, url: `${site.url}/`, title: 'Shop' })
      expect(Buffer.from(String(frame.data), 'base64').subarray(0, 3)).toEqual(Buffer.from('ffd8ff', 'hex'))
    }
  })

  it('is made once for all who watch, and only while somebody does', async () => {
    const { id, session } = await openPage('/moving')
    const { cdp } = session.activeTab ?? {}
    if (cdp === undefined) throw new Error('There is no tab.')
    const sent = vi.spyOn(cdp, 'send')
    const count = (method: string) => sent.mock.calls.filter(([name]) => name === method).length
    const listeners = () => session.events.eventNames().map(name => session.events.listenerCount(name))
    const before = listeners()
    for (let round = 1; round <= 3; round += 1) {
      const watchers = await Promise.all([cast(id), cast(id), cast(id, { pageIndex: '0' })])
      await Promise.all(watchers.map(watcher => watcher.next(isFrame)))
      expect(count('Page.startScreencast')).toBe(round)
      await Promise.all(watchers.map(watcher => watcher[Symbol.asyncDispose]()))
      await eventually(() => expect(count('Page.stopScreencast')).toBe(round))
    }
    expect(listeners()).toEqual(before)
  })

  it('is not kept from others by one that reads nothing', async () => {
    const { id } = await openPage('/moving')
    const [slow, quick] = [await cast(id), await cast(id)]
    await slow.next(isFrame)
    slow.socket.pause()
    const frames = () => quick.all.filter(isFrame).length
    const before = frames()
    await eventually(() => expect(frames()).toBeGreaterThan(before + 60), 120_000)
    slow.socket.resume()
    const counted = slow.all.filter(isFrame).length
    // It goes on with what is current, and was sent far fewer.
    await eventually(() => expect(slow.all.filter(isFrame).length).toBeGreaterThan(counted))
  })

  it('follows the active tab, or keeps to the one that is asked for until that is closed', async () => {
    const { id, session } = await openPage()
    const first = session.activeTab?.pageId ?? ''
    const [following, pinned] = [await cast(id), await cast(id, { pageId: first })]
    const withoutFrames = await cast(id, { tabInfo: 'true' })
    following.send({ type: 'newTab', url: `${site.url}/other` })
    const changed = await following.next(isOf('activeTabChange'))
    expect(changed.pageId).not.toBe(first)
    await following.next(
      message => isFrame(message) && message.pageId === changed.pageId && message.title === 'Other',
    )
    expect(following.all.some(({ tabs }) => tabs?.at(-1)?.title === 'Other')).toBe(true)
    sendAll(following, { type: 'navigation', action: 'goto', url: `${site.url}/other`, pageId: first })
    await pinned.next(message => message.type === 'tabUpdate' && message.title === 'Other')
    await session.tabs[0]?.page.evaluate('history.pushState(null, "", "/elsewhere")')
    await pinned.next(({ url, title }) => url === `${site.url}/elsewhere` && title === 'Other')
    expect(pinned.all.filter(isFrame).every(({ pageId }) => pageId === first)).toBe(true)
    following.send({ type: 'activateTab', pageId: first })
    await following.next(message => message.type === 'activeTabChange' && message.pageId === first)
    following.send({ type: 'closeTab', pageId: first })
    await following.next(message => message.type === 'tabClosed' && message.pageId === first)
    await pinned.next(isOf('targetClosed'))
    expect(await pinned.closed).toMatchObject({ code: 1000 })
    // The last one is replaced, so that there is something to see.
    following.send({ type: 'closeTab' })
    await following.next(({ tabs }) => tabs?.[0]?.url === 'about:blank', 'an empty tab')
    expect(withoutFrames.all.some(isFrame)).toBe(false)
    expect(withoutFrames.all.some(isOf('tabList'))).toBe(true)
    expect(await (await cast(id, { pageId: 'nope' })).closed).toMatchObject({ code: 4404 })
  })

  it(`${row('GET /api/agents/{id}/browser/{sessionId}/live-view')} is permitted by a link, for an hour`, async () => {
    const { id, read } = await openPage()
    const path = `/api/agents/default/browser/${id}/live-view`
    const { status, body } = await app.call<{ url: string; expires_at: string }>('GET', path)
    expect(status).toBe(200)
    expect(Math.abs(Date.parse(body.expires_at) - Date.now() - 3_600_000)).toBeLessThan(60_000)
    const token = new URL(body.url).searchParams.get('token') ?? ''
    const channel = await cast(id, { token })
    expect(await channel.next(isOf('status'))).toMatchObject({ may_drive: false })
    await channel.next(isFrame)
    sendAll(channel, ...clicks(specificationShape, { x: 150, y: 120 }), { type: 'getSelectedText' })
    await read('1')
    expect(channel.all.some(isOf('selectedTextResponse'))).toBe(false)
    expect(await read('seen')).toEqual([])
    await app.call('DELETE', `/api/agents/default/browser?id=${id}`)
    expect(await app.call('GET', path)).toMatchObject({ status: 409 })
  })

  it('ends with the session', async () => {
    const { id } = await openPage()
    const channel = await cast(id)
    await app.call('DELETE', `/api/agents/default/browser?id=${id}`)
    await channel.next(({ status }) => status === 'closed', 'the end')
    expect(await channel.closed).toMatchObject({ code: 1000 })
    expect(await (await cast(id)).closed).toMatchObject({ code: 4404 })
    expect(await (await cast('nope')).closed).toMatchObject({ code: 4404 })
    expect(await (await openChannel(origin, '/v1/sessions/cast')).closed).toMatchObject({ code: 4404 })
    expect(await app.call('GET', '/v1/sessions/cast')).toMatchObject({
      status: 404,
      body: { error: { code: 'NOT_FOUND' } },
    })
  })
})

describe.each<[string, InputShape]>([
  ['the specification', specificationShape],
  ['steel-browser', steelShape],
])('a client in the shape of %s', (_name, shape) => {
  it('clicks, drags, types, copies, scrolls, writes any script and goes elsewhere', async () => {
    const { id, session, read } = await openPage()
    const pageId = session.activeTab?.pageId ?? ''
    const channel = await openChannel(origin, shape.address(id, { pageId }))
    onTestFinished(() => channel[Symbol.asyncDispose]())
    const send = (...messages: object[]) => sendAll(channel, ...messages)
    send(...clicks(shape, { x: 150, y: 120 }, { pageId, count: 2 }))
    await eventually(async () => expect(await read('seen.map(([type]) => type)')).toContain('dblclick'))
    expect(await read('seen.filter(([type]) => type === "click").map(([,,, detail]) => detail)')).toEqual([
      1, 2,
    ])

    await read('seen.length = 0')
    const path = [
      { x: 120, y: 320 },
      { x: 200, y: 400 },
      { x: 300, y: 450 },
    ] as const
    send(...drags(shape, path, pageId))
    await eventually(async () => expect((await read<unknown[][]>('seen')).at(-1)?.[0]).toBe('mouseup'))
    const dragged = await read<[string, number, number][]>('seen')
    const down = dragged.findIndex(([type]) => type === 'mousedown')
    const moves = dragged.slice(down).filter(([type]) => type === 'mousemove')
    expect(moves.map(([, , buttons]) => buttons)).toEqual(moves.map(() => 1))
    expect(moves.length).toBeGreaterThan(0)

    send(...clicks(shape, { x: 350, y: 110 }, { pageId }), ...types(shape, 'Ab 1é你', pageId))
    await eventually(async () => expect(await read('first.value')).toBe('Ab 1é你'))
    for (const key of ['a', 'c']) send(...presses(shape, key, modifier.control, pageId))
    send(...clicks(shape, { x: 350, y: 210 }, { pageId }), ...presses(shape, 'v', modifier.control, pageId))
    await eventually(async () => expect(await read('second.value')).toBe('Ab 1é你'))
    send(...presses(shape, 'Backspace', 0, pageId), { type: 'insertText', text: '漢字🙂', pageId })
    send(shape.key({ event: 'char', key: 'ß', code: '', text: 'ß' }, pageId))
    await eventually(async () => expect(await read('second.value')).toBe('Ab 1é漢字🙂ß'))
    send(...presses(shape, 'a', modifier.control, pageId), { type: 'getSelectedText', pageId })
    expect(await channel.next(isOf('selectedTextResponse'))).toMatchObject({ pageId, text: 'Ab 1é漢字🙂ß' })

    send(shape.mouse({ event: 'mouseWheel', x: 600, y: 300, deltaX: 0, deltaY: 400 }, pageId))
    await eventually(async () => expect(await read<number>('scrollY')).toBeGreaterThan(300))
    send(shape.goto(`${site.url}/other`, pageId))
    await eventually(async () => expect(await read('document.title')).toBe('Other'))
    send(shape.history('back', pageId))
    await eventually(async () => expect(await read('document.title')).toBe('Shop'))
    send(shape.history('forward', pageId))
    await eventually(async () => expect(await read('document.title')).toBe('Other'))
    await read('globalThis.marked = true')
    send(shape.history('refresh', pageId))
    await eventually(async () => expect(await read('globalThis.marked')).toBeUndefined())
  })
})

describe('what a client sends', () => {
  it('may say which keys are held by pressing them alone, as the viewer of steel-browser does', async () => {
    const { id, read } = await openPage()
    const channel = await cast(id)
    const key = (type: string, name: string) => ({ type: 'keyEvent', event: { type, key: name, text: name } })
    sendAll(channel, ...clicks(specificationShape, { x: 350, y: 110 }))
    sendAll(channel, ...types(specificationShape, 'gone'), key('keyDown', 'Control'), key('keyDown', 'a'))
    sendAll(channel, key('keyUp', 'a'), key('keyUp', 'Control'), key('keyDown', 'b'))
    await eventually(async () => expect(await read('first.value')).toBe('b'))
  })

  it('merges moves, and never a press', async () => {
    const { id, read } = await openPage()
    const channel = await cast(id)
    const at = (x: number) => specificationShape.mouse({ event: 'mouseMoved', x, y: 400 })
    for (let round = 0; round < 20; round += 1) {
      sendAll(channel, ...Array.from({ length: 50 }, (_, step) => at(110 + step)))
      sendAll(channel, ...clicks(specificationShape, { x: 130, y: 400 }))
    }
    const types = () => read<string[]>('seen.map(([type]) => type)')
    await eventually(async () => expect((await types()).filter(type => type === 'mouseup').length).toBe(20))
    const seen = await types()
    expect(seen.filter(type => type === 'mousedown').length).toBe(20)
    expect(seen.filter(type => type === 'mousemove').length).toBeLessThan(500)
  })

  it('counts what can not be used, and ends the connection after 50 of these', async () => {
    const { id, page } = await openPage()
    const channel = await cast(id)
    const bad = [
      'no json',
      '[]',
      'null',
      '7',
      { type: 'unknown' },
      { type: 'mouseEvent', event: 'mouseMoved' },
    ]
    for (const message of bad) channel.send(message)
    channel.send({ type: 'insertText', text: 'x'.repeat(70_000) })
    channel.send({ type: 'navigation', action: 'goto', url: 'file:///etc/passwd' })
    channel.send({ type: 'navigation', action: 'goto', url: 'javascript:alert(1)' })
    channel.socket.send(Buffer.from([0, 1, 2]))
    // Ten of them so far; it still is of use.
    channel.send({ type: 'getSelectedText' })
    await channel.next(isOf('selectedTextResponse'))
    for (let count = 10; count < 50; count += 1) channel.send('no json')
    expect(await channel.closed).toMatchObject({ code: 4400 })
    expect(page.url()).toBe(`${site.url}/`)
  })
})

describe('a hostile page', () => {
  it('has an address, a title and secrets of a size that can be told, whatever runs in it', async () => {
    const { id, session, page } = await openPage('/hostile')
    await page.waitForLoadState()
    const channel = await cast(id)
    const { tabs } = await channel.next(({ tabs }) => tabs?.[0]?.url.includes('#') === true)
    // It may have been asked before its script ran.
    expect(['', 'Hostile']).toContain(tabs?.[0]?.title)
    expect(['', `${site.url}/icon.png`]).toContain(tabs?.[0]?.favicon)
    expect(tabs?.[0]?.url.length).toBe(2000)
    expect((await channel.next(isFrame)).url?.length).toBe(2000)
    await session.secrets.read(page)
    expect(session.secrets.mask()('Some words')).toBe('Some words')
  })
})

describe('a page that opens others without end', () => {
  it('gets no more than 50 tabs', async () => {
    const { session, read } = await openPage()
    await read('for (let count = 0; count < 60; count += 1) open("/other")')
    await eventually(() => expect(session.tabs.length).toBe(50), 120_000)
    await eventually(() => expect(session.context.pages().length).toBe(50))
  })
})

describe('the other channels', () => {
  it(`${row('GET /v1/sessions/logs')} tell what pages write to their consoles`, async () => {
    const { id, session, read } = await openPage()
    const channel = await openChannel<unknown[]>(origin, `/v1/sessions/logs?sessionId=${id}`)
    onTestFinished(() => channel[Symbol.asyncDispose]())
    await eventually(() => expect(session.events.listenerCount('console')).toBe(1))
    await read('console.warn("low", { stock: 2 })')
    const pageId = session.activeTab?.pageId
    const entry = { pageId, level: 'warning', text: 'low {stock: 2}', timestamp: expect.any(Number) }
    expect(await channel.next(() => true)).toEqual([entry])
    await read('console.log("x".repeat(1_000_000))')
    const [long] = (await channel.next(() => true)) as [{ text: string }]
    expect(long.text.length).toBe(4096)
  })

  it(`${row('GET /v1/sessions/pageId')} tell which page is new, elsewhere, or active`, async () => {
    const { id, session } = await openPage()
    const first = session.activeTab
    const channel = await openChannel<{ pageId: string }>(origin, `/v1/sessions/pageId?sessionId=${id}`)
    onTestFinished(() => channel[Symbol.asyncDispose]())
    expect(await channel.next(() => true)).toEqual({ pageId: first?.pageId })
    const second = await session.openTab()
    await channel.next(({ pageId }) => pageId === second.pageId)
    await first?.page.goto(`${site.url}/other`)
    await channel.next(({ pageId }) => pageId === first?.pageId)
  })
})

describe(`${row('GET /v1/sessions/recording')} the recording channel`, () => {
  interface RecordedEvent {
    type: number
    data: Record<string, unknown>
  }
  const [snapshot, change, meta] = [2, 3, 4]

  it('sends a snapshot to whoever joins, and what changes then, without secrets', async () => {
    const { id, session, page } = await openPage()
    const join = async () => {
      const channel = await openChannel<RecordedEvent[]>(origin, `/v1/sessions/recording?sessionId=${id}`)
      onTestFinished(() => channel[Symbol.asyncDispose]())
      const events = () => channel.all.flat()
      await eventually(() =>
        expect(
          events()
            .map(({ type }) => type)
            .slice(0, 2),
        ).toEqual([meta, snapshot]),
      )
      expect(JSON.stringify(events()[1])).toContain('Some words')
      return { channel, events }
    }
    const [first, second] = [await join(), await join()]
    await page.evaluate(`first.type = 'password'`)
    await page.type('#first', 'hidden-8123')
    await page.evaluate(`document.querySelector('p').textContent = 'Other words'`)
    for (const { events } of [first, second])
      await eventually(() =>
        expect(JSON.stringify(events().filter(({ type }) => type === change))).toContain('Other words'),
      )
    expect(JSON.stringify(first.events())).not.toContain('hidden-8123')
    const tab = await session.openTab()
    await tab.page.goto(`${site.url}/other`)
    await eventually(() => expect(JSON.stringify(first.events())).toContain(`${site.url}/other`))
  })
})

describe(`${limitRow('websocket-heartbeat')} a connection`, () => {
  it('is pinged each 30 s, and ended if two pings have no answer', async () => {
    const { id } = await openPage()
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const alive = await cast(id)
    const dead = new WebSocket(`${origin.replace('http', 'ws')}/v1/sessions/logs?sessionId=${id}`, {
      autoPong: false,
    })
    await new Promise(resolve => dead.once('open', resolve))
    const isDead = new Promise(resolve => dead.once('close', resolve))
    let pings = 0
    alive.socket.on('ping', () => {
      pings += 1
    })
    await alive.next(isOf('status'))
    vi.advanceTimersByTime(29_000)
    expect(pings).toBe(0)
    for (let round = 1; round <= 2; round += 1) {
      vi.advanceTimersByTime(30_000)
      await eventually(() => expect(pings).toBe(round))
      // The answer to the ping has arrived when that to a later message has.
      alive.send({ type: 'getSelectedText' })
      await alive.next(isOf('selectedTextResponse'))
    }
    await isDead
    expect(alive.socket.readyState).toBe(WebSocket.OPEN)
  })
})
