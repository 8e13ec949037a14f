import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { gunzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { openSession } from '#test/support/browser-stage.ts'
import { buildApp, type TestApp, testApp } from '#test/support/build-app.ts'
import { openChannel } from '#test/support/cast-client.ts'
import { eventually } from '#test/support/eventually.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { passTime } from '#test/support/pass-time.ts'
import { type Site, sitePages, startSite } from '#test/support/site-server.ts'
import { createLiveLinks } from './live/live-links.ts'
import { createRecordings, type RrwebEvent } from './recordings/recordings.service.ts'
import type { RecordingLimits } from './recordings/storing.ts'
import type { BrowserSession } from './sessions/browser-session.ts'

const environment = { DEV_USER: 'dev@example.com', OUTBOUND_ALLOW: '127.0.0.1' }
const path = '/api/agents/default/browser'
const html = (body: string) => `<!doctype html><title>Shop</title><body>${body}`
const pages = {
  '/': html(`<h1>Shop</h1><p id="basket">Empty</p><button onclick="basket.textContent += ' pear'">Pear</button>
    <input id="name" aria-label="Name"><a href="/pay">Pay</a>`),
  '/large': html(`Large ${'x'.repeat(5_000_000)}`),
  '/escaped': html(`Escaped <script>document.body.append('\\u00e9'.repeat(3.5e6))</script>`),
  '/named': html(`<form><input name="sheet"><input name="shadowRoot"><input name="children"></form>
    <img name="createTreeWalker" alt=""><p id="count">none</p><button onclick="count.textContent += ' more'">More</button>`),
  '/pay': html('<h1>Pay</h1><a href="/" target="_blank">Again</a>'),
  '/login': html(`<input type="password" id="password" oninput="echo.textContent = value; this.title = value">
    <input autocomplete="one-time-code" id="code"><input autocomplete="cc-number" id="card"><p id="echo"></p>
    <button onclick="password.type = 'text'; password.setAttribute('value', password.value)">Show</button>`),
}

let app: TestApp
let site: Site
let origin: string

beforeAll(async () => {
  app = await buildApp({ environment })
  origin = await app.listen()
  site = await startSite(sitePages(pages))
})

afterAll(async () => {
  await app.close()
  await site[Symbol.asyncDispose]()
})

interface Recorded {
  events: (RrwebEvent & { data: { tag?: string; payload?: Record<string, unknown>; href?: string } })[]
  meta: { size: number; started_at: string; ended_at: string }
}

async function act(own: string, action: object): Promise<void> {
  const { status, body } = await app.call('POST', `${own}/execute`, { body: action })
  expect(status, JSON.stringify(body)).toBe(200)
}

const end = (id: string) => app.call('DELETE', `${path}?id=${id}`)

async function recordingOf(own: string): Promise<Recorded> {
  await eventually(async () => expect((await app.call('GET', `${own}/recording`)).status).toBe(200))
  const { status, body } = await app.call<Recorded>('GET', `${own}/recording`)
  expect(status).toBe(200)
  return body
}

const marksOf = ({ events }: Pick<Recorded, 'events'>) =>
  events
    .filter(({ type }) => type === 5)
    .map(({ data }) => ({ tag: data.tag, ...data.payload }) as Record<string, unknown>)

const addressesOf = ({ events }: Recorded) =>
  events.filter(({ type }) => type === 4).map(({ data }) => data.href)

/** The replay page of a session that has ended, on the screen of a phone, in a browser that reaches this machine. */
async function openReplay(own: string): Promise<Page> {
  const { body } = await app.call<{ url: string }>('GET', `${own}/live-view`)
  expect(body.url).toContain(`${origin}/replay/`)
  const { session } = await openSession(app, { viewport: { width: 390, height: 800 } })
  const page = await session.page()
  await page.goto(body.url)
  await page.locator('#controls').waitFor()
  return page
}

const frameText = `document.querySelector('iframe').contentDocument.body.innerText.trim()`
const textOf = (page: Page) => page.evaluate<string>(frameText)

describe('a recording', () => {
  it('shows at each moment what the page showed then, marks what the agent did, and survives the session', async () => {
    const { id, path: own, session } = await openSession(app, { record: true })
    const addresses: string[] = []
    const moments: { at: number; text: string; name: string }[] = []
    const actions = [
      { action: 'navigate', url: `${site.url}/` },
      { action: 'click', selector: 'button' },
      { action: 'type', selector: '#name', text: 'Ada' },
      { action: 'click', selector: 'text=Pay' },
      { action: 'click', selector: 'text=Again' },
    ]
    for (const action of actions) {
      await act(own, action)
      const page = await session.page()
      const text = await page.locator('body').innerText()
      const name = page.url().endsWith('/') ? await page.locator('#name').inputValue() : ''
      // What a new tab shows is recorded once the recorder has moved there.
      if (page.url() !== addresses.at(-1)) addresses.push(page.url())
      await eventually(async () =>
        expect(addressesOf(await recordingOf(own)).slice(-addresses.length)).toEqual(addresses),
      )
      moments.push({ at: Date.now(), text, name })
    }
    await end(id)
    const recording = await recordingOf(own)
    expect(marksOf(recording).map(({ action, selector, url }) => [action, selector ?? url])).toEqual([
      ['navigate', `${site.url}/`],
      ['click', 'button'],
      ['type', '#name'],
      ['click', 'text=Pay'],
      ['click', 'text=Again'],
    ])
    expect(JSON.stringify(marksOf(recording))).not.toContain('Ada')
    expect((await app.call('GET', own)).body).toMatchObject({
      status: 'closed',
      recording: recording.meta.size > 0 ? { size: recording.meta.size } : null,
    })
    // The empty tab before is left out.
    const start = recording.events.filter(({ type }) => type === 2)[1]?.timestamp ?? expect.unreachable()
    const page = await openReplay(own)
    expect(await page.locator('#address').innerText()).toBe(`${site.url}/`)
    await eventually(async () => expect(await textOf(page)).toContain('Pear'))
    await page.locator('#position').focus()
    await page.keyboard.press('Home')
    await eventually(async () => expect(await textOf(page)).toContain('Pear'))
    for (const { at, text, name } of moments.toReversed()) {
      await page
        .locator('#position')
        .fill(String(Math.min(at - start, Number(await page.getAttribute('#position', 'max')))))
      await eventually(async () => expect(await textOf(page)).toBe(text))
      if (name !== '')
        expect(
          await page.evaluate(
            `document.querySelector('iframe').contentDocument.querySelector('#name').value`,
          ),
        ).toBe(name)
    }
    expect(await page.locator('#marks button').allInnerTexts()).toHaveLength(5)
    await page.locator('#marks button').first().click()
    await page.locator('#position').focus()
    await page.keyboard.press('End')
    await eventually(async () => expect(await textOf(page)).toBe(moments.at(-1)?.text))
    await page.locator('#speed').selectOption('8')
    await page.locator('#play').click()
    await eventually(async () => expect(await page.locator('#play').innerText()).toBe('Play'))
  })
})

/** Changes that no observer of the DOM sees, and what shows them: in the page, and in its replay. */
const colorOf = (selector: string, root = 'document') =>
  `getComputedStyle(${root}.querySelector('${selector}')).color`
const fieldOf = (id: string, property = 'value') => `document.getElementById('${id}').${property}`
const inHost = (host: string) => `document.querySelector('#${host}').shadowRoot`
const silentChanges: [name: string, script: string, shown: string][] = [
  ['a rule is inserted', `own.sheet.insertRule('#a { color: rgb(1, 0, 0) }')`, colorOf('#a')],
  [
    'a rule is appended',
    `own.sheet.insertRule('#b { color: rgb(2, 0, 0) }', own.sheet.cssRules.length)`,
    colorOf('#b'),
  ],
  ['a rule is deleted', `own.sheet.deleteRule(2)`, colorOf('#c')],
  ['a declaration is set', `rule('#d').style.setProperty('color', 'rgb(4, 0, 0)')`, colorOf('#d')],
  ['a declaration is assigned', `rule('#e').style.color = 'rgb(5, 0, 0)'`, colorOf('#e')],
  ['declarations are replaced', `rule('#f').style.cssText = 'color: rgb(6, 0, 0)'`, colorOf('#f')],
  ['a selector is changed', `rule('#g').selectorText = '#h'`, `${colorOf('#g')} + ${colorOf('#h')}`],
  ['a rule within @media is added', `rule('').insertRule('#i { color: rgb(9, 0, 0) }')`, colorOf('#i')],
  ['a sheet is switched off', `second.sheet.disabled = true`, colorOf('#j')],
  [
    'a style element gets text and rules at once',
    `third.textContent = '#k { color: rgb(1, 1, 1) }'; third.sheet.insertRule('#k { color: rgb(11, 0, 0) }', 1)`,
    colorOf('#k'),
  ],
  [
    'a style element is filled by rules alone',
    `const late = document.head.appendChild(document.createElement('style')); late.sheet.insertRule('#l { color: rgb(12, 0, 0) }'); window.late = late`,
    colorOf('#l'),
  ],
  ['and gets one more later', `late.sheet.insertRule('#m { color: rgb(13, 0, 0) }', 1)`, colorOf('#m')],
  ['a rule of an adopted sheet is added', `adopted.insertRule('#n { color: rgb(14, 0, 0) }')`, colorOf('#n')],
  ['a sheet is adopted', `adopt('#o { color: rgb(15, 0, 0) }')`, colorOf('#o')],
  [
    'and replaced',
    `adopt('', 0); document.adoptedStyleSheets[1].replaceSync('#o { color: rgb(15, 1, 0) }')`,
    colorOf('#o'),
  ],
  [
    'a sheet is adopted no more',
    `document.adoptedStyleSheets = document.adoptedStyleSheets.slice(0, 2)`,
    `document.adoptedStyleSheets.length`,
  ],
  [
    'a shadow root is attached late',
    `late1.attachShadow({ mode: 'open' }).innerHTML = '<p>Late words</p>'`,
    `${inHost('late1')}.textContent`,
  ],
  [
    'it adopts a sheet',
    `const s = new CSSStyleSheet(); s.replaceSync('p { color: rgb(18, 0, 0) }'); late1.shadowRoot.adoptedStyleSheets = [s]; window.inner = s`,
    colorOf('p', inHost('late1')),
  ],
  [
    'and a rule in it changes',
    `inner.cssRules[0].style.color = 'rgb(19, 0, 0)'`,
    colorOf('p', inHost('late1')),
  ],
  [
    'a field in it gets a value',
    `late1.shadowRoot.innerHTML += '<input>'; setTimeout(() => { late1.shadowRoot.querySelector('input').value = 'deep' }, 300)`,
    `${inHost('late1')}.querySelector('input')?.value`,
  ],
  ['a text is set', `text.value = 'set by script'`, fieldOf('text')],
  ['a text is set as React does', `setter.set.call(react, 'by React')`, fieldOf('react')],
  ['an area is set', `area.value = 'lines'`, fieldOf('area')],
  ['a box is ticked', `box.checked = true`, fieldOf('box', 'checked')],
  ['a box is unticked', `ticked.checked = false`, fieldOf('ticked', 'checked')],
  [
    'a radio button is chosen',
    `second2.checked = true`,
    `${fieldOf('second2', 'checked')} + ' ' + ${fieldOf('first2', 'checked')}`,
  ],
  ['an option is chosen by value', `list.value = 'two'`, fieldOf('list')],
  ['an option is chosen by place', `list2.selectedIndex = 2`, fieldOf('list2')],
  [
    'options of many are chosen',
    `many.options[0].selected = many.options[2].selected = true`,
    `Array.from(document.getElementById('many').selectedOptions, one => one.value).join()`,
  ],
  ['a date is set', `date.valueAsDate = new Date('2026-05-04')`, fieldOf('date')],
  ['a slider is moved', `slider.stepUp(7)`, fieldOf('slider')],
  [
    'a field in a frame is set',
    `frames[0].document.querySelector('input').value = 'framed'`,
    `document.querySelector('iframe').contentDocument.querySelector('input').value`,
  ],
]
const letters = [...'abcdefghijklmno']
const silentPage =
  html(`<style id="own">${letters.map(letter => `#${letter} { color: black }`).join('')} @media all { #z { color: red } }</style>
  <style id="second">#j { color: rgb(10, 0, 0) }</style><style id="third"></style>${letters.map(letter => `<p id="${letter}">${letter}</p>`).join('')}
  <div id="late1"></div><input id="text"><input id="react"><textarea id="area"></textarea><input type="checkbox" id="box">
  <input type="checkbox" id="ticked" checked><input type="radio" name="r" id="first2" checked><input type="radio" name="r" id="second2">
  ${['list', 'list2', 'many'].map(id => `<select id="${id}" ${id === 'many' ? 'multiple' : ''}><option>one<option>two<option>three</select>`).join('')}
  <input type="date" id="date"><input type="range" id="slider" value="3"><input type="password" id="password"><iframe srcdoc="<input>"></iframe>
  <script>
    const adopted = new CSSStyleSheet()
    document.adoptedStyleSheets = [adopted]
    const rule = start => Array.from(own.sheet.cssRules).find(({ selectorText = '' }) => selectorText === start)
    function adopt(text) { const sheet = new CSSStyleSheet(); sheet.replaceSync(text); document.adoptedStyleSheets.push(sheet) }
    const setter = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')
  </script>`)

it('shows what scripts change without changing the tree', async () => {
  const shop = await startSite(sitePages({ '/': silentPage }))
  onTestFinished(() => shop[Symbol.asyncDispose]())
  const { id, path: own, session } = await openSession(app, { record: true })
  await act(own, { action: 'navigate', url: `${shop.url}/` })
  const page = await session.page()
  const watched = await openChannel<unknown>(origin, `/v1/sessions/recording?sessionId=${id}`)
  onTestFinished(() => watched[Symbol.asyncDispose]())
  for (const [name, script] of silentChanges) {
    await page.evaluate(script)
    // What follows is in a root that is recorded by then.
    if (name === 'a shadow root is attached late')
      await eventually(() => expect(JSON.stringify(watched.all)).toContain('Late words'))
  }
  await page.evaluate(`password.value = 'correct-horse-10'`)
  await eventually(async () =>
    expect(await page.evaluate(`${inHost('late1')}.querySelector('input').value`)).toBe('deep'),
  )
  const expected = await Promise.all(silentChanges.map(([, , shown]) => page.evaluate(shown)))
  await end(id)
  expect(JSON.stringify(await recordingOf(own))).not.toContain('correct-horse-10')
  const replay = await openReplay(own)
  await replay.locator('#position').focus()
  await replay.keyboard.press('End')
  const shownIn = (expression: string) =>
    replay.evaluate(`(document => ${expression})(document.querySelector('iframe').contentDocument)`)
  for (const [at, [name, , shown]] of silentChanges.entries())
    await eventually(async () => expect(await shownIn(shown), name).toEqual(expected[at]))
})

it('shows what scripts change last, also where the look at a large page has passed it', async () => {
  const large = html(`<input id="first">${'<i></i>'.repeat(3000)}`)
  const shop = await startSite(sitePages({ '/': large }))
  onTestFinished(() => shop[Symbol.asyncDispose]())
  for (const value of ['lark', 'wren', 'tern', 'crow', 'rook']) {
    const { id, path: own, session } = await openSession(app, { record: true })
    await act(own, { action: 'navigate', url: `${shop.url}/` })
    const page = await session.page()
    await page.evaluate('new Promise(requestAnimationFrame)')
    await page.evaluate(`first.value = '${value}'`)
    await end(id)
    expect(JSON.stringify(await recordingOf(own))).toContain(value)
  }
})

it('begins to play when a page that scripts fill has something on it', async () => {
  const late = `<!doctype html><title>Late</title><div id="root"></div><style>body { margin: 9px }</style>
    <script>setTimeout(() => { root.innerHTML = '<p>Ready</p>' }, 300)</script>`
  const slow = await startSite(sitePages({ '/blank': '<!doctype html><title>Blank</title>', '/': late }))
  onTestFinished(() => slow[Symbol.asyncDispose]())
  const { id, path: own, session } = await openSession(app, { record: true })
  for (const at of ['/blank', '/']) await act(own, { action: 'navigate', url: `${slow.url}${at}` })
  await (await session.page()).locator('p').waitFor()
  await end(id)
  const page = await openReplay(own)
  expect(await page.locator('#address').innerText()).toBe(`${slow.url}/`)
  await eventually(async () => expect(await textOf(page)).toBe('Ready'))
})

it('says what is wrong where there is nothing to replay, or the link is none', async () => {
  const { id, path: own } = await openSession(app)
  expect((await app.call('GET', own)).body).toMatchObject({ recording: null })
  expect((await app.call('GET', `${own}/recording`)).status).toBe(404)
  await end(id)
  expect((await app.call('GET', `${own}/live-view`)).status).toBe(409)
  const recorded = await openSession(app, { record: true })
  const { body: watching } = await app.call<{ url: string }>('GET', `${recorded.path}/live-view`)
  await end(recorded.id)
  const { body } = await app.call<{ url: string }>('GET', `${recorded.path}/live-view`)
  const given = new URL(body.url)
  const denied = { status: 403, body: expect.stringContaining('no longer valid') }
  const valid = `${given.pathname}${given.search}`
  expect(await app.call('GET', valid)).toMatchObject({
    status: 200,
    body: expect.stringContaining('<!doctype html>'),
  })
  for (const part of ['', '/events']) {
    expect(await app.call('GET', `/replay/${id}${part}${given.search}`)).toMatchObject(denied)
    expect(await app.call('GET', `/replay/${recorded.id}${part}`)).toMatchObject(denied)
    const foreign = `/replay/${recorded.id}${part}${new URL(watching.url).search}`
    expect(await app.call('GET', foreign)).toMatchObject(denied)
  }
  const { secretBox, clock } = app.service.infrastructure
  const links = createLiveLinks({
    secret: secretBox.derive(['links to browser sessions']),
    origin: () => '',
    clock,
  })
  for (const [part, expiresAt, status] of [
    ['', 1, 403],
    ['/events', 1, 403],
    ['', undefined, 404],
    ['/events', undefined, 404],
  ] as const) {
    const link = await links.make({ sessionId: id, right: 'replay' }, expiresAt)
    const answer = await app.call('GET', link.url.replace('?', `${part}?`))
    expect(answer).toMatchObject({ status, body: expect.stringMatching(/no longer/) })
  }
})

it('holds no password, code or card, however the page shows them', async () => {
  const { id, path: own, session } = await openSession(app, { record: true })
  const secrets = ['correct-horse-9', '736251', '4242424242424242']
  await act(own, { action: 'navigate', url: `${site.url}/login` })
  for (const [at, selector] of ['#password', '#code', '#card'].entries())
    await act(own, { action: 'type', selector, text: secrets[at] })
  await act(own, { action: 'click', selector: 'text=Show' })
  expect(await (await session.page()).locator('#echo').innerText()).toBe(secrets[0])
  await end(id)
  const { events } = await recordingOf(own)
  expect(JSON.stringify(events)).toContain('********')
  const stored = await app.service.infrastructure.agentDatabases.use('default', ({ db }) =>
    db.selectFrom('browser_recording_pieces').select('events').where('session_id', '=', id).execute(),
  )
  const text = stored.map(piece => gunzipSync(piece.events).toString()).join()
  for (const secret of secrets) expect(text).not.toContain(secret)
})

it('pauses during a takeover, which it marks, and goes on with a snapshot', async () => {
  const { id, path: own, session } = await openSession(app, { record: true })
  await act(own, { action: 'navigate', url: `${site.url}/` })
  await app.call('POST', `${own}/takeover`, { body: { reason: 'Sign in, please' } })
  const page = await session.page()
  await page.locator('h1').evaluate(`(heading) => { heading.textContent = 'In private' }`)
  await page.goto(`${site.url}/pay`)
  await page.goto(`${site.url}/`)
  await app.call('POST', `${own}/takeover/end`, { body: { note: 'Done' } })
  await act(own, { action: 'click', selector: 'button' })
  await eventually(async () => expect(JSON.stringify(await recordingOf(own))).toContain('Empty pear'))
  await end(id)
  const recording = await recordingOf(own)
  expect(marksOf(recording)).toMatchObject([
    { tag: 'action', action: 'navigate' },
    { tag: 'takeover', state: 'began', reason: 'Sign in, please' },
    { tag: 'takeover', state: 'ended', outcome: 'handed_back', note: 'Done' },
    { tag: 'action', action: 'click' },
  ])
  expect(addressesOf(recording).slice(-2)).toEqual([`${site.url}/`, `${site.url}/`])
  expect(JSON.stringify(recording)).not.toContain('In private')
})

it('nothing of a hostile page runs, loads or leads elsewhere in the replay', async () => {
  let connections = 0
  const canary = createServer(socket => {
    connections += 1
    socket.destroy()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void canary.close())
  await once(canary, 'listening')
  const there = `http://127.0.0.1:${(canary.address() as AddressInfo).port}`
  const hostile = await startSite(sitePages({ '/': hostilePage(there) }))
  onTestFinished(() => hostile[Symbol.asyncDispose]())
  const { id, path: own, session } = await openSession(app, { record: true })
  await act(own, { action: 'navigate', url: `${hostile.url}/` })
  expect(await (await session.page()).evaluate('hacked')).toBe(true)
  await eventually(async () => expect(JSON.stringify(await recordingOf(own))).toContain('Added later'))
  await end(id)
  expect(connections).toBeGreaterThan(0)
  const page = await openReplay(own)
  const [before, asked] = [connections, hostile.requests.length]
  const opened: string[] = []
  page.context().on('page', one => void opened.push(one.url()))
  page.on('dialog', dialog => void opened.push(dialog.message()))
  await page.locator('#position').focus()
  await page.keyboard.press('End')
  await eventually(async () => expect(await textOf(page)).toContain('Added later'))
  const stage = await page.locator('#stage').boundingBox()
  for (const y of [20, 60, 100]) await page.mouse.click((stage?.x ?? 0) + 30, (stage?.y ?? 0) + y)
  // Also what no click can reach does nothing.
  await page.evaluate(`(() => {
    const { contentDocument: shown } = document.querySelector('iframe')
    for (const element of shown.querySelectorAll('a, button, form, input, img')) element.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }))
    for (const form of shown.querySelectorAll('form')) form.requestSubmit()
  })()`)
  await page.locator('#play').click()
  await eventually(async () => expect(await page.locator('#play').innerText()).toBe('Play'))
  await eventually(async () => expect(await textOf(page)).toContain('Added later'))
  expect(
    await page.evaluate(
      `[typeof hacked, typeof document.querySelector('iframe').contentWindow.hacked, location.pathname, document.querySelector('iframe').getAttribute('sandbox')]`,
    ),
  ).toEqual(['undefined', 'undefined', `/replay/${id}`, 'allow-same-origin'])
  expect([connections - before, hostile.requests.length - asked, opened]).toEqual([0, 0, []])
})

function hostilePage(there: string): string {
  return `<!doctype html><html><head><title>Hostile</title>
    <base href="${there}/base/"><link rel="preconnect" href="${there}"><link rel="prefetch" href="${there}/prefetch">
    <link rel="stylesheet" href="${there}/style.css"><link rel="icon" href="${there}/icon">
    <meta http-equiv="refresh" content="3600; url=${there}/refresh"><meta http-equiv="Content-Security-Policy" content="img-src *">
    <style>@import url(${there}/import.css); @font-face { font-family: f; src: url(${there}/font) } body { background: url(${there}/background); font-family: f }</style>
    </head><body onload="hacked = true"><script>var hacked = true; top.hacked = true</script>
    <a href="javascript:top.hacked = true">Run</a> <a href="${there}/link">Leave</a> <a href="${there}/top" target="_top">Top</a>
    <a href="${there}/new" target="_blank" ping="${there}/ping">New</a> <a href="data:text/html,<script>top.hacked = true</script>">Data</a>
    <form action="${there}/form"><button onclick="top.hacked = true">Send</button><input type="image" src="${there}/button" alt="x"></form>
    <img src="${there}/image" srcset="${there}/set 2x" onerror="hacked = true" alt=""><svg><image href="${there}/svg"/><use href="${there}/use#x"/><a href="javascript:top.hacked = true"><text y="9">S</text></a></svg>
    <video src="${there}/video" poster="${there}/poster" autoplay></video><audio src="${there}/audio" autoplay></audio>
    <object data="${there}/object"></object><embed src="${there}/embed">
    <iframe src="${there}/frame"></iframe><iframe srcdoc="<img src=${there}/inner><script>top.hacked = true</script>"></iframe>
    <script>setTimeout(() => { document.body.insertAdjacentHTML('beforeend', '<p onclick="hacked = true">Added later</p><link rel=preconnect href=${there}><img src=${there}/later onerror="top.hacked = true"><iframe src="javascript:top.hacked = true"></iframe>') }, 100)</script></body></html>`
}

it('is sent to whoever watches, from a snapshot on, and only while somebody does', async () => {
  const { session, path: own } = await openSession(app)
  const { recordings, stopped } = ownRecordings()
  await act(own, { action: 'navigate', url: `${site.url}/` })
  const watch = () => {
    const all: RrwebEvent[] = []
    return { all, stop: recordings.watch(session, events => void all.push(...JSON.parse(events))) }
  }
  const first = watch()
  await eventually(() => expect(first.all.map(({ type }) => type)).toContain(2))
  const second = watch()
  await eventually(() => expect(second.all.map(({ type }) => type)).toContain(2))
  for (const { all } of [first, second]) expect(all.slice(0, 2).map(({ type }) => type)).toEqual([4, 2])
  await act(own, { action: 'click', selector: 'button' })
  for (const { all } of [first, second])
    await eventually(() => expect(JSON.stringify(all)).toContain('Empty pear'))
  const page = await session.page()
  expect(await page.evaluate('[typeof sendEvents, typeof recorder, typeof rrweb]')).toEqual(
    Array(3).fill('undefined'),
  )
  first.stop()
  second.stop()
  await stopped(session)
  const count = first.all.length
  await act(own, { action: 'click', selector: 'button' })
  expect([first.all.length, second.all.length]).toEqual([count, expect.any(Number)])
  expect((await app.call('GET', own)).body).toMatchObject({ recording: null })
})

it('goes on whatever the elements of the page are named', async () => {
  const { path: own, session } = await openSession(app)
  const { recordings } = ownRecordings()
  const all: RrwebEvent[] = []
  onTestFinished(recordings.watch(session, events => void all.push(...JSON.parse(events))))
  await act(own, { action: 'navigate', url: `${site.url}/named` })
  await act(own, { action: 'click', selector: 'button' })
  await eventually(() => expect(JSON.stringify(all)).toContain('none more'))
})

describe('limits', () => {
  it('of a page: one that is too large is not recorded, and the next one is', async () => {
    const { path: own, session } = await openSession(app)
    const { recordings } = ownRecordings()
    const all: RrwebEvent[] = []
    onTestFinished(recordings.watch(session, events => void all.push(...JSON.parse(events))))
    const page = await session.page()
    await page.goto(`${site.url}/`)
    await eventually(() => expect(JSON.stringify(all)).toContain('Pear'))
    await page.goto(`${site.url}/large`)
    await eventually(() => expect(all.at(-1)).toMatchObject({ type: 5, data: { tag: 'too_large' } }))
    // In one message, this one would be larger than is read.
    await page.goto(`${site.url}/escaped`)
    await eventually(() => expect(JSON.stringify(all)).toContain('Escaped'))
    await act(own, { action: 'navigate', url: `${site.url}/pay` })
    await eventually(() => expect(JSON.stringify(all)).toContain('Again'))
    expect(JSON.stringify(all).length).toBeLessThan(5_000_000)
  })

  it('of the number of sessions: the recording of one that is listed no longer goes with it', async () => {
    const agentId = await makeAgent(app)
    const { agentDatabases } = app.service.infrastructure
    const idOf = (count: number) => `${agentId}.${String(count).padStart(4, '0')}`
    await agentDatabases.use(agentId, async ({ db }) => {
      const rest = {
        status: 'closed',
        headless: 1,
        viewport_width: 800,
        viewport_height: 600,
        user_agent: 'x',
        instance_id: 'x',
        last_activity: '2020-01-01',
      }
      for (let count = 0; count < 1001; count += 1)
        await db
          .insertInto('browser_sessions')
          .values({ ...rest, id: idOf(count), created_at: new Date(count).toISOString() })
          .execute()
      for (const session_id of [idOf(0), idOf(1)]) {
        await db
          .insertInto('browser_recordings')
          .values({ session_id, size: 1, started_at: 'x', ended_at: 'x' })
          .execute()
        await db
          .insertInto('browser_recording_pieces')
          .values({ session_id, number: 0, events: Buffer.from('x') })
          .execute()
      }
    })
    await openSession(app, { agentId })
    const left = await agentDatabases.use(agentId, ({ db }) =>
      Promise.all([
        db.selectFrom('browser_recordings').select('session_id').execute(),
        db.selectFrom('browser_recording_pieces').select('session_id').execute(),
      ]),
    )
    expect(left).toEqual([[{ session_id: idOf(1) }], [{ session_id: idOf(1) }]])
  })

  it('end the recording of a session, and say so; of an agent they keep the newest', async () => {
    const agentId = await makeAgent(app)
    const { recordings } = ownRecordings({ ofSession: 30_000, ofAgent: 50_000 })
    const made: string[] = []
    await app.service.infrastructure.agentDatabases.use(agentId, async agent => {
      for (let count = 0; count < 3; count += 1) {
        const { id, path: own, session } = await openSession(app, { agentId })
        made.push(own)
        await recordings.record(agent, session)
        const page = await session.page()
        await page.goto(`${site.url}/`)
        await page.evaluate(
          `setInterval(() => { basket.textContent = 'x'.repeat(60_000) + Array.from({ length: 90 }, () => Math.random()).join() }, 20)`,
        )
        await eventually(async () =>
          expect(JSON.stringify((await app.call('GET', `${own}/recording`)).body)).toContain(
            'recording_stopped',
          ),
        )
        await recordings.finish(session)
        await app.call('DELETE', `/api/agents/${agentId}/browser?id=${id}`)
      }
    })
    const kept = await Promise.all(
      made.map(
        async own => (await app.call<{ recording: { size: number } | null }>('GET', own)).body.recording,
      ),
    )
    const sizes = kept.map(recording => recording?.size ?? 0)
    expect(sizes[0]).toBe(0)
    expect(sizes[2]).toBeGreaterThan(1000)
    expect(Math.max(...sizes)).toBeLessThan(31_000)
    expect((sizes[1] ?? 0) + (sizes[2] ?? 0)).toBeLessThanOrEqual(50_000)
  })

  it('of time: a recording goes after 30 days, and its session stays listed', async () => {
    const clock = manualClock()
    const later = await testApp({ environment, clock })
    const { id, path: own } = await openSession(later, { record: true })
    await later.call('DELETE', `${path}?id=${id}`)
    const statusOf = async () => (await later.call('GET', `${own}/recording`)).status
    await passTime(later, clock, 29 * 86_400_000)
    expect(await statusOf()).toBe(200)
    await passTime(later, clock, 86_400_000)
    await eventually(async () => expect(await statusOf()).toBe(404))
    expect((await later.call('GET', own)).body).toMatchObject({ status: 'closed', recording: null })
  })
})

/** What the service has, with limits of the test. */
function ownRecordings(limits?: RecordingLimits) {
  const { transact, clock, log } = app.service.infrastructure
  const recordings = createRecordings({ transact, clock, log, ...(limits && { limits }) })
  return { recordings, stopped: async (session: BrowserSession) => recordings.finish(session) }
}
