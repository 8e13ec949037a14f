/** The live page in a real browser of its own, in which persons watch and drive a session in another. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { openSession } from '#test/support/browser-stage.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { eventually } from '#test/support/eventually.ts'
import { type Site, sitePages, startSite } from '#test/support/site-server.ts'

const icon = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>"
const shop = `<title>Shop</title><link rel="icon" href="${icon}">
  <style>body { margin: 0; background: rgb(0, 128, 0) } * { position: absolute }</style>
  <button id="button" style="left: 100px; top: 100px; width: 100px; height: 50px">Press</button>
  <input id="field" style="left: 300px; top: 100px; width: 300px; height: 40px">
  <div id="area" style="left: 100px; top: 300px; width: 300px; height: 200px; background: #ccc"></div>
  <div style="top: 4000px; height: 10px">End</div>
  <script>
    const seen = []
    const note = event => seen.push([event.type, event.button, event.buttons, event.detail].join(' '))
    for (const type of ['click', 'dblclick']) button.addEventListener(type, note)
    for (const type of ['mousedown', 'mousemove', 'mouseup']) area.addEventListener(type, note)
    let pressed
    addEventListener('mousedown', event => { pressed = [event.clientX, event.clientY] })
  </script>`

let app: TestApp
let origin: string
let site: Site
/** Whose browser persons use. */
let people: string

beforeAll(async () => {
  app = await buildApp({ environment: { DEV_USER: 'dev@example.com', OUTBOUND_ALLOW: '127.0.0.1' } })
  origin = await app.listen()
  site = await startSite(
    sitePages({
      '/': shop,
      '/other': '<title>Other</title><link rel="icon" href="/icon.png">Other',
      '/asks': `<title>Asks</title><body onclick="document.title = prompt('Your name?', 'Ada') + confirm('Sure?')">`,
      '/blank': '<title>Frames</title>',
      '/fields': `<title>Fields</title><style>body { margin: 0 } * { position: absolute } select, input { width: 200px; height: 30px }</style>
        <select id="list" style="left: 100px; top: 100px"><option>one<option>two<option disabled>three<option>four</select>
        <input id="date" type="date" style="left: 500px; top: 100px"><input id="file" type="file" style="left: 500px; top: 300px">`,
    }),
  )
  people = await makeAgent(app)
})

afterAll(async () => {
  await app.close()
  await site[Symbol.asyncDispose]()
})

/** A session that shows a page of the site, and links to it. */
async function openShown(path = '/') {
  const { session, path: api } = await openSession(app)
  const page = await session.page()
  await page.goto(`${site.url}${path}`)
  return {
    session,
    page,
    api,
    seen: () => page.evaluate('seen') as Promise<string[]>,
    watchLink: async () => (await app.call<{ url: string }>('GET', `${api}/live-view`)).body.url,
    async takeoverLink(reason = 'Sign in, please') {
      const asked = await app.call<{ takeover_url: string }>('POST', `${api}/takeover`, { body: { reason } })
      return asked.body.takeover_url
    },
  }
}

/** A person who has opened the address, with what their browser complained of and asked for. */
async function openPerson(url: string) {
  const { session } = await openSession(app, { agentId: people })
  const page = await session.page()
  const complaints: string[] = []
  const requested: string[] = []
  page.on('console', message => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  page.on('pageerror', error => complaints.push(String(error)))
  page.on('request', request => requested.push(request.url()))
  /** What the page has sent. */
  const sent: Record<string, unknown>[] = []
  page.on('websocket', socket =>
    socket.on('framesent', ({ payload }) => sent.push(JSON.parse(String(payload)))),
  )
  await page.goto(url)
  return { page, session, complaints, requested, sent, ...personOn(page) }
}

function personOn(page: Page) {
  const text = (id: string) => page.locator(`#${id}`).innerText()
  /** Where a point of the shown page is in the person's window. */
  async function at(x: number, y: number): Promise<[number, number]> {
    const box = await page.locator('#picture').boundingBox()
    if (box === null) throw new Error('There is no picture.')
    return [box.x + (x * box.width) / 1280, box.y + (y * box.height) / 720]
  }
  return {
    text,
    at,
    status: (status: string) => eventually(async () => expect(await text('status')).toBe(status)),
    /** Red, green and blue of a pixel of the picture. */
    pixel: (x: number, y: number) =>
      page.evaluate(
        `Array.from(document.getElementById('picture').getContext('2d').getImageData(${x}, ${y}, 1, 1).data.slice(0, 3))`,
      ) as Promise<number[]>,
    click: async (x: number, y: number) => await page.mouse.click(...(await at(x, y))),
    tabs: () => page.locator('[role=tab]').allInnerTexts(),
    controls: () => page.locator('.for-driver:visible').count(),
  }
}

/** Until the picture is green. */
async function seesShop({ pixel }: { pixel(x: number, y: number): Promise<number[]> }): Promise<void> {
  await eventually(async () => {
    const [red = 255, green = 0, blue = 255] = await pixel(1000, 600)
    expect(red < 30 && green > 100 && blue < 30).toBe(true)
  })
}

describe('a person who watches', () => {
  it('sees a page at rest, its tabs, its address and who drives, and can do nothing', async () => {
    const { session, page, seen, watchLink } = await openShown()
    await (await session.openTab()).page.goto(`${site.url}/other`)
    session.activate(session.tabs[0] ?? expect.unreachable())
    const person = await openPerson(await watchLink())
    await person.status('Live: the agent drives')
    await seesShop(person)
    expect(await person.tabs()).toEqual(['Shop', 'Other'])
    expect(await person.page.inputValue('#address')).toBe(`${site.url}/`)
    expect(await person.page.isEditable('#address')).toBe(false)
    expect(await person.page.locator('#picture').getAttribute('aria-label')).toBe('Picture of Shop')
    expect(await person.controls()).toBe(0)
    const selected = person.page.locator('[role=tab][aria-selected=true]')
    expect(await selected.innerText()).toBe('Shop')
    // An icon that the page brings with it is shown; that of the other page would have to be loaded.
    expect(await person.page.locator('[role=tab] img').count()).toBe(1)
    await person.click(150, 125)
    await person.page.keyboard.type('x')
    await page.goto(`${site.url}/other`)
    await eventually(async () => expect(await person.tabs()).toEqual(['Other', 'Other']))
    await page.goBack()
    expect(await seen()).toEqual([])
    expect(person.sent).toEqual([])
    expect(person.complaints).toEqual([])
    const foreign = person.requested.filter(url => !url.startsWith(`${origin}/`) && !url.startsWith('data:'))
    expect(foreign).toEqual([])
  })

  it('is told of the takeover, of who drives, that the picture is hidden, and of the end', async () => {
    const { session, api, watchLink, takeoverLink } = await openShown()
    const watching = await openPerson(await watchLink())
    await watching.status('Live: the agent drives')
    const link = await takeoverLink('Sign in <b>now</b>')
    await watching.status('Waiting for a person to drive')
    expect(await watching.text('reason')).toBe('Sign in <b>now</b>')
    const driving = await openPerson(link)
    await driving.status('You drive')
    await watching.status('A person with the link drives')
    const second = await openPerson(link)
    await second.status('A person with the link drives')
    await seesShop(second)
    expect(await second.controls()).toBe(0)
    await driving.page.click('#hide')
    for (const one of [watching, second])
      await eventually(async () => {
        expect(await one.text('notice')).toContain('The picture is hidden')
        expect(await one.page.isVisible('#picture')).toBe(false)
      })
    expect(await driving.page.isVisible('#picture')).toBe(true)
    await driving.page.click('#hide')
    await eventually(async () => expect(await watching.page.isVisible('#picture')).toBe(true))
    await app.call('DELETE', `${api.slice(0, api.lastIndexOf('/'))}?id=${session.id}`)
    for (const one of [watching, driving]) await one.status('The session has ended')
  })

  it('sees the last picture while the connection is lost, and goes on when it is back', async () => {
    const { page, watchLink, takeoverLink } = await openShown()
    const person = await openPerson(await watchLink())
    await seesShop(person)
    const driving = await openPerson(await takeoverLink())
    await driving.status('You drive')
    await driving.page.locator('#keys').focus()
    const admitted = app.service.app.websocketServer
    const refuse = (client: { terminate(): void }) => client.terminate()
    admitted.on('connection', refuse)
    for (const client of admitted.clients) client.terminate()
    await person.status('Reconnecting…')
    await seesShop(person)
    await driving.status('Reconnecting…')
    await driving.page.keyboard.type('lost')
    await driving.page.click('#hand-back')
    await driving.page.fill('#note', 'Done')
    await driving.page.click('#handing-back [type=submit]')
    expect(await driving.text('unsent')).toContain('no connection')
    admitted.off('connection', refuse)
    await driving.status('You drive')
    expect(driving.sent).toEqual([])
    await driving.page.click('#handing-back [type=submit]')
    await person.status('Live: the agent drives')
    await page.evaluate("document.body.style.background = 'rgb(200, 0, 0)'")
    await eventually(async () => expect((await person.pixel(1000, 600))[0]).toBeGreaterThan(150))
  })

  it('may do so on a page of another site, where nobody may drive', async () => {
    const { watchLink, takeoverLink } = await openShown()
    const frames = [await watchLink(), await takeoverLink()]
    const person = await openPerson(`${site.url}/blank`)
    await person.page.setContent(frames.map(url => `<iframe src="${url}" height="500"></iframe>`).join(''))
    const [watching, driving] = [0, 1].map(index => person.page.frameLocator(`iframe >> nth=${index}`))
    await eventually(async () =>
      expect(await watching?.locator('#status').innerText()).toBe('Waiting for a person to drive'),
    )
    expect(await driving?.locator('#status').count()).toBe(0)
  })
})

describe('a person who drives', () => {
  it('clicks, drags, turns the wheel, types, composes and pastes in the page', async () => {
    const { page, seen, takeoverLink } = await openShown()
    const person = await openPerson(await takeoverLink())
    await person.status('You drive')
    await seesShop(person)
    await person.page.mouse.dblclick(...(await person.at(150, 125)))
    await eventually(async () =>
      expect(await seen()).toEqual(['click 0 0 1', 'click 0 0 2', 'dblclick 0 0 2']),
    )
    await page.evaluate('seen.length = 0')
    await person.page.mouse.move(...(await person.at(150, 350)))
    await person.page.mouse.down({ button: 'right' })
    await person.page.mouse.move(...(await person.at(250, 400)), { steps: 5 })
    await person.page.mouse.up({ button: 'right' })
    await eventually(async () => {
      const all = await seen()
      expect(all).toContain('mousedown 2 2 1')
      expect(all).toContain('mousemove 0 2 0')
      expect(all.at(-1)).toBe('mouseup 2 0 1')
    })
    const [x = 0, y = 0] = (await page.evaluate('pressed')) as number[]
    expect(Math.hypot(x - 150, y - 350)).toBeLessThan(2)
    const movesBefore = person.sent.filter(({ event }) => event === 'mouseMoved').length
    await person.page.evaluate(`for (let x = 300; x < 350; x += 1) {
      const where = { clientX: x, clientY: 500, pointerType: 'mouse' }
      document.getElementById('picture').dispatchEvent(new PointerEvent('pointermove', where))
    }`)
    await person.click(400, 120)
    await person.page.keyboard.type('Hello')
    await person.page.keyboard.press('Shift+ArrowLeft')
    await person.page.keyboard.type('p!')
    const value = () => page.inputValue('#field')
    await eventually(async () => expect(await value()).toBe('Hellp!'))
    const cdp = await person.page.context().newCDPSession(person.page)
    await cdp.send('Input.imeSetComposition', { text: 'に', selectionStart: 1, selectionEnd: 1 })
    await cdp.send('Input.imeSetComposition', { text: 'にほん', selectionStart: 3, selectionEnd: 3 })
    await cdp.send('Input.insertText', { text: '日本' })
    await eventually(async () => expect(await value()).toBe('Hellp!日本'))
    await eventually(() =>
      expect(person.sent.filter(({ type }) => type === 'insertText')).toEqual([
        { type: 'insertText', text: '日本' },
      ]),
    )
    // One for all that were made at once, and one for the click.
    const moves = person.sent.filter(({ event }) => event === 'mouseMoved').length - movesBefore
    expect([1, 2]).toContain(moves)
    await person.page.evaluate(`{
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', ' 🎉 pasted')
      document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, cancelable: true }))
    }`)
    await eventually(async () => expect(await value()).toBe('Hellp!日本 🎉 pasted'))
    await person.page.mouse.wheel(0, 300)
    await eventually(async () => expect(await page.evaluate('scrollY')).toBe(300))
    expect(person.complaints).toEqual([])
  })

  it('copies to the own clipboard, cuts, and leaves the picture by F6', async () => {
    const { page, takeoverLink } = await openShown()
    const person = await openPerson(await takeoverLink())
    await person.page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await person.status('You drive')
    await page.fill('#field', 'to be copied')
    await page.focus('#field')
    await seesShop(person)
    await person.page.locator('#keys').focus()
    await person.page.keyboard.press('Control+a')
    await person.page.keyboard.press('Control+c')
    const clipboard = () => person.page.evaluate('navigator.clipboard.readText()')
    await eventually(async () => expect(await clipboard()).toBe('to be copied'))
    expect(await page.inputValue('#field')).toBe('to be copied')
    await person.page.keyboard.press('End')
    await person.page.keyboard.press('Shift+Home')
    await person.page.keyboard.press('Control+x')
    await eventually(async () => expect(await page.inputValue('#field')).toBe(''))
    await person.page.keyboard.press('Control+v')
    await eventually(async () => expect(await page.inputValue('#field')).toBe('to be copied'))
    await person.page.keyboard.press('F6')
    expect(await person.page.evaluate('document.activeElement.id')).toBe('address')
  })

  it('opens, chooses and closes tabs by mouse and keyboard, and goes to addresses', async () => {
    const { session, takeoverLink } = await openShown()
    const person = await openPerson(await takeoverLink())
    await person.status('You drive')
    await person.page.click('#new-tab')
    await eventually(async () => expect(await person.tabs()).toHaveLength(2))
    await eventually(() => expect(session.tabs.indexOf(session.activeTab ?? expect.unreachable())).toBe(1))
    await eventually(async () => expect(await person.page.inputValue('#address')).toBe(''))
    await person.page.fill('#address', `${site.url}/other`)
    await person.page.keyboard.press('Enter')
    await eventually(async () => expect((await person.tabs())[1]).toContain('Other'))
    await person.page.locator('[role=tab][aria-selected=true]').focus()
    await person.page.keyboard.press('ArrowLeft')
    await person.page.keyboard.press('Enter')
    const selected = () => person.page.locator('[role=tab][aria-selected=true]').innerText()
    await eventually(async () => expect(await selected()).toContain('Shop'))
    await person.page.keyboard.press('ArrowRight')
    await person.page.keyboard.press('Delete')
    await eventually(() => expect(session.tabs).toHaveLength(1))
    await person.page.fill('#address', `${site.url}/other`)
    await person.page.keyboard.press('Enter')
    // What was written stands there before the page is elsewhere.
    await eventually(() => expect(session.activeTab?.title).toBe('Other'))
    const address = () => person.page.inputValue('#address')
    await eventually(async () => expect(await address()).toBe(`${site.url}/other`))
    await person.page.click('[data-action=back]')
    await eventually(async () => expect(await address()).toBe(`${site.url}/`))
    await person.page.click('[data-action=forward]')
    await eventually(async () => expect(await address()).toBe(`${site.url}/other`))
  })

  it('answers what the page asks, takes more time, keeps the wheel over a reload, and hands back with a note', async () => {
    const { session, page, takeoverLink } = await openShown('/asks')
    const person = await openPerson(await takeoverLink())
    const ending = new Promise(resolve => session.events.once('takeover.ended', resolve))
    await person.status('You drive')
    await eventually(async () => expect(await person.text('time')).toMatch(/^[45]:\d\d left$/))
    await person.page.click('#extend')
    await eventually(async () => expect(await person.text('time')).toMatch(/^1[45]:\d\d left$/))
    await person.click(600, 300)
    await eventually(async () => expect(await person.text('question')).toContain('Your name?'))
    expect(await person.text('question-title')).toBe(`${new URL(site.url).host} says`)
    expect(await person.page.inputValue('#answer')).toBe('Ada')
    await person.page.fill('#answer', 'Grace')
    await person.page.click('#accept')
    await eventually(async () => expect(await person.text('question')).toContain('Sure?'))
    await person.page.reload()
    await person.status('You drive')
    await eventually(async () => expect(await person.text('question')).toContain('Sure?'))
    await person.page.keyboard.press('Escape')
    await eventually(async () => expect(await page.title()).toBe('Gracefalse'))
    await person.page.click('#hand-back')
    await person.page.fill('#note', 'All done')
    await person.page.click('#handing-back [type=submit]')
    await person.status('The agent drives again')
    expect(await ending).toMatchObject({ outcome: 'handed_back', note: 'All done' })
    expect(await person.controls()).toBe(0)
    expect(await person.text('notice')).toContain('You can close this page.')
    expect(person.complaints).toEqual([])
  })

  it('taps, scrolls, drags and types on a phone', async () => {
    const { page, seen, takeoverLink } = await openShown()
    const person = await openPerson('about:blank')
    const cdp = await person.page.context().newCDPSession(person.page)
    await cdp.send('Emulation.setTouchEmulationEnabled', { enabled: true })
    await cdp.send('Emulation.setEmulatedMedia', { features: [{ name: 'pointer', value: 'coarse' }] })
    await person.page.setViewportSize({ width: 360, height: 740 })
    await person.page.goto(await takeoverLink())
    await person.status('You drive')
    await seesShop(person)
    expect(await person.page.evaluate('document.documentElement.scrollWidth')).toBe(360)

    async function touch(...points: [number, number][]) {
      for (const [index, point] of points.entries()) {
        const [x, y] = await person.at(...point)
        const type = index === 0 ? 'touchStart' : 'touchMove'
        await cdp.send('Input.dispatchTouchEvent', { type, touchPoints: [{ x, y }] })
      }
      await cdp.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
    }

    await touch([150, 125])
    await eventually(async () => expect(await seen()).toEqual(['click 0 0 1']))
    await person.page.click('#drag')
    await page.evaluate('seen.length = 0')
    await touch([150, 350], [200, 380], [250, 400])
    await eventually(async () => expect((await seen()).at(-1)).toMatch(/^mouseup 0 0/))
    expect(await seen()).toContain('mousemove 0 1 0')
    await person.page.click('#drag')
    await touch([400, 120])
    await person.page.click('#keyboard')
    expect(await person.page.evaluate('document.activeElement.inputMode')).toBe('text')
    await cdp.send('Input.insertText', { text: 'by thumb' })
    await eventually(async () => expect(await page.inputValue('#field')).toBe('by thumb'))
    await person.page.evaluate("document.execCommand('delete')")
    await eventually(async () => expect(await page.inputValue('#field')).toBe('by thum'))
    await touch([700, 600], [700, 500], [700, 300])
    await eventually(async () => expect(await page.evaluate('scrollY')).toBeGreaterThan(150))
  })
})

describe('a field whose choices no picture shows', () => {
  it('can be used with the mouse and the keyboard: lists, dates and files', async () => {
    const { page, takeoverLink } = await openShown('/fields')
    const person = await openPerson(await takeoverLink())
    await person.status('You drive')
    const panel = person.page.locator('#picker')
    await person.click(150, 115)
    await panel.waitFor()
    expect(await person.page.locator('#picker option').allInnerTexts()).toEqual([
      'one',
      'two',
      'three',
      'four',
    ])
    await person.page.locator('#picker option').nth(1).click()
    await eventually(async () => expect(await page.inputValue('#list')).toBe('two'))
    await panel.waitFor({ state: 'hidden' })
    // The keyboard is with the page again, and opens the list once more.
    await person.page.keyboard.press('Space')
    await panel.waitFor()
    await person.page.keyboard.press('ArrowDown')
    await person.page.keyboard.press('Enter')
    await eventually(async () => expect(await page.inputValue('#list')).toBe('four'))
    await person.click(550, 115)
    await person.page.locator('#picker input[type=date]').fill('2026-05-04')
    await person.page.locator('#picker-use').click()
    await eventually(async () => expect(await page.inputValue('#date')).toBe('2026-05-04'))
    await person.click(550, 310)
    const buffer = Buffer.alloc(100_001, 'x')
    await person.page
      .locator('#picker input[type=file]')
      .setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer })
    await person.page.locator('#picker-use').click()
    const sizes = 'Array.from(document.getElementById("file").files, ({ name, size }) => [name, size].join())'
    await eventually(async () => expect(await page.evaluate(sizes)).toEqual(['a.txt,100001']))
    expect(person.complaints).toEqual([])
  })
})
