/** Fields whose choices no picture shows, as a person who has taken over chooses in them. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openSession } from '#test/support/browser-stage.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { type CastMessage, type Channel, openChannel } from '#test/support/cast-client.ts'
import { eventually } from '#test/support/eventually.ts'
import { type Site, sitePages, startSite } from '#test/support/site-server.ts'

const style = `<style>body { margin: 0 } body > * { position: absolute; left: 40px } iframe { border: 0 }
  select, input { font: 20px sans-serif; height: 30px; width: 200px; box-sizing: border-box }</style>`
const place = (top: number) => `style="top: ${top}px"`
const pages = {
  '/': `<!doctype html><title>Fields</title>${style}
    <label ${place(0)}>Colour of the car <select id="list" style="position: fixed; left: 40px; top: 20px"><option>red<option>green<option disabled>blue<option>black</select></label>
    <select id="groups" ${place(200)}><option>none<optgroup label="Fruit"><option>apple<option>pear</optgroup><optgroup label="Gone" disabled><option>plum</optgroup></select>
    <select id="low" ${place(680)}>${Array.from({ length: 9 }, (_, at) => `<option>${at}`).join('')}</select>
    <input id="date" type="date" min="2026-01-01" max="2026-12-31" ${place(330)}><input id="time" type="time" ${place(365)}>
    <input id="both" type="datetime-local" ${place(400)}><input id="month" type="month" ${place(435)}>
    <input id="week" type="week" ${place(470)}><input id="color" type="color" value="#ff0000" ${place(505)}>
    <select id="off" disabled ${place(540)}><option>one</select><input id="fixed" type="date" readonly ${place(575)}>
    <div id="host" style="left: 400px; top: 20px"></div><iframe style="left: 700px; top: 20px" srcdoc="${style.replaceAll('"', "'")}<select id=inner style='top: 10px'><option>x<option>y</select>"></iframe>
    <input id="file" type="file" style="left: 400px; top: 300px"><input id="hidden" type="file" multiple accept="image/*" hidden>
    <button id="ask" onclick="document.getElementById('hidden').click()" style="left: 400px; top: 350px">Upload</button>
    <input id="text" style="left: 400px; top: 400px">
    <script>
      const seen = []
      host.attachShadow({ mode: 'open' }).innerHTML = '<select style="font: 20px sans-serif; height: 30px; width: 200px"><option>s<option>t</select>'
      for (const root of [document, host.shadowRoot]) for (const type of ['input', 'change']) root.addEventListener(type, event => {
        if (root !== document || event.target !== host) seen.push(type + ' ' + (event.target.id || 'deep') + ' ' + event.target.value)
      })
    </script>`,
}

let app: TestApp
let origin: string
let site: Site

beforeAll(async () => {
  app = await buildApp({ environment: { DEV_USER: 'dev@example.com', OUTBOUND_ALLOW: '127.0.0.1' } })
  origin = await app.listen()
  site = await startSite(sitePages(pages))
})

afterAll(async () => {
  await app.close()
  await site[Symbol.asyncDispose]()
})

type Message = CastMessage & Record<string, unknown>

async function takeOver() {
  const { id, path, session } = await openSession(app)
  const page = await session.page()
  await page.goto(`${site.url}/`)
  const asked = await app.call<{ takeover_url: string }>('POST', `${path}/takeover`, {
    body: { reason: 'x' },
  })
  const token = new URL(asked.body.takeover_url).searchParams.get('token') ?? ''
  const channel = await openChannel<Message>(
    origin,
    `/v1/sessions/cast?${new URLSearchParams({ sessionId: id, token })}`,
  )
  onTestFinished(() => channel[Symbol.asyncDispose]())
  return { page, channel, ...drive(channel, page) }
}

function drive(channel: Channel<Message>, page: Page) {
  const seen = () => page.evaluate('seen') as Promise<string[]>
  return {
    seen,
    press(x: number, y: number) {
      for (const event of ['mousePressed', 'mouseReleased'])
        channel.send({ type: 'mouseEvent', event, x, y, button: 'left' })
    },
    key(key: string, more: object = {}) {
      for (const event of ['keyDown', 'keyUp']) channel.send({ type: 'keyEvent', event, key, ...more })
    },
    picker: () => channel.next(({ type }) => type === 'picker', 'a picker'),
    closed: () => channel.next(({ type }) => type === 'pickerClosed', 'the end of a picker'),
    pick: ({ picker }: Message, choice: object) => channel.send({ type: 'pick', picker, ...choice }),
    becomes: (selector: string, value: string) =>
      eventually(async () => expect(await page.locator(selector).inputValue()).toBe(value)),
  }
}

describe('a list', () => {
  it('offers its options, and takes one by the mouse in the picture or by a message', async () => {
    const { press, picker, closed, pick, becomes, seen } = await takeOver()
    press(100, 35)
    const first = await picker()
    expect(first).toMatchObject({
      kind: 'list',
      label: 'Colour of the car',
      omitted: 0,
      rows_from: 50,
      row_height: 23,
      box: { x: 40, y: 20, width: 200, height: 30 },
      options: [
        { label: 'red', disabled: false, group: '', selected: true },
        { label: 'green', selected: false },
        { label: 'blue', disabled: true },
        { label: 'black' },
      ],
    })
    // One that can't be chosen leaves the list open.
    press(100, 110)
    press(100, 80)
    await closed()
    await becomes('#list', 'green')
    expect(await seen()).toEqual(['input list green', 'change list green'])
    press(100, 35)
    pick(await picker(), { option: 2 })
    await closed()
    press(100, 35)
    pick(await picker(), { option: 3 })
    await becomes('#list', 'black')
    expect((await seen()).slice(2)).toEqual(['input list black', 'change list black'])
  })

  it('has groups, and opens upwards where there is no room below', async () => {
    const { press, picker, becomes } = await takeOver()
    press(100, 215)
    const { options } = await picker()
    expect(options).toMatchObject([
      { group: '' },
      { group: 'Fruit' },
      {},
      { label: 'plum', group: 'Gone', disabled: true },
    ])
    // none, the name of the group, apple, pear
    press(100, 230 + 3 * 23 + 10)
    await becomes('#groups', 'pear')
    press(100, 700)
    expect(await picker()).toMatchObject({ rows_from: 680 - 9 * 23 })
    press(100, 680 - 9 * 23 + 5 * 23 + 10)
    await becomes('#low', '5')
  })

  it('is found in shadow roots and frames, and by keys', async () => {
    const { press, key, picker, closed, pick, page, becomes } = await takeOver()
    press(450, 35)
    pick(await picker(), { option: 1 })
    await becomes('#host select', 't')
    press(750, 45)
    expect(await picker()).toMatchObject({ box: { x: 740, y: 30 } })
    press(750, 95)
    await eventually(async () =>
      expect(await page.frameLocator('iframe').locator('#inner').inputValue()).toBe('y'),
    )
    await page.locator('#list').focus()
    for (const [name, more] of [
      [' ', {}],
      ['F4', {}],
      ['ArrowDown', { modifiers: 1 }],
    ] as const) {
      key(name, more)
      await picker()
      key('Escape')
      await closed()
    }
  })
})

describe('a field for', () => {
  it.each([
    ['date', 345, '2026-05-04'],
    ['time', 380, '12:34'],
    ['both', 415, '2026-05-04T12:34'],
    ['month', 450, '2026-05'],
    ['week', 485, '2026-W20'],
    ['color', 520, '#00ff00'],
  ])('%s takes a value', async (id, y, value) => {
    const { press, picker, closed, pick, becomes, seen } = await takeOver()
    press(60, y)
    const type = id === 'both' ? 'datetime-local' : id
    const limits = id === 'date' ? { min: '2026-01-01', max: '2026-12-31' } : {}
    const shown = await picker()
    expect(shown).toMatchObject({ kind: type, ...limits })
    pick(shown, { value })
    await closed()
    await becomes(`#${id}`, value)
    expect(await seen()).toEqual([`input ${id} ${value}`, `change ${id} ${value}`])
  })

  it('files takes those of the person, within limits', async () => {
    const { press, picker, closed, pick, page, channel } = await takeOver()
    press(450, 312)
    const one = await picker()
    expect(one).toMatchObject({ kind: 'file', multiple: false, max_files: 1, max_bytes: 10 * 1024 * 1024 })
    const send = (shown: Message, name: string, text: string, isNew = true) =>
      channel.send({
        type: 'pickFile',
        picker: shown.picker,
        name,
        mediaType: 'text/plain',
        isNew,
        data: Buffer.from(text).toString('base64'),
      })
    send(one, 'a.txt', 'Hello, ')
    send(one, 'a.txt', 'world', false)
    pick(one, {})
    await closed()
    const read = (id: string) =>
      page.evaluate<string[]>(
        `Promise.all(Array.from(document.getElementById('${id}').files, async file => [file.name, file.type, await file.text()].join()))`,
      )
    await eventually(async () => expect(await read('file')).toEqual(['a.txt,text/plain,Hello, world']))
    press(430, 360)
    const many = await picker()
    expect(many).toMatchObject({ multiple: true, accept: 'image/*', max_files: 20 })
    send(many, '../b', 'no')
    send(many, 'b', '1')
    send(many, 'c', '2')
    pick(many, {})
    await eventually(async () => expect(await read('hidden')).toEqual(['b,text/plain,1', 'c,text/plain,2']))
    press(430, 360)
    const more = await picker()
    for (let at = 0; at <= 20; at += 1) send(more, String(at), 'x')
    pick(more, {})
    press(430, 360)
    pick(await picker(), {})
    expect(await read('hidden')).toHaveLength(2)
  })
})

it('a file is asked for by the name of the host, and only beside the tab that asks', async () => {
  const { press, picker, closed, channel } = await takeOver()
  press(430, 360)
  const { picker: number, pageId, host } = await picker()
  expect(host).toBe(new URL(site.url).host)
  channel.send({ type: 'newTab' })
  await closed()
  channel.send({ type: 'activateTab', pageId })
  expect(await picker()).toMatchObject({ picker: number, pageId })
})

it('nothing is offered for fixed fields, to others, or after the takeover', async () => {
  const { press, picker, closed, key, channel, page } = await takeOver()
  for (const y of [555, 590]) press(60, y)
  press(100, 35)
  expect(await picker()).toMatchObject({ picker: '1', kind: 'list' })
  // A press beside it closes it.
  press(900, 600)
  await closed()
  press(430, 412)
  for (const [text, code, modifiers] of [
    ['@', 'KeyQ', 3],
    ['€', 'KeyE', 3],
    ['{', 'Digit7', 3],
    ['ß', 'KeyS', 1],
    ['|', 'IntlBackslash', 3],
    ['ą', 'KeyA', 3],
    ['~', 'BracketRight', 0],
  ] as const)
    key(text, { code, modifiers })
  await eventually(async () => expect(await page.inputValue('#text')).toBe('@€{ß|ą~'))
  channel.send({ type: 'handBack' })
  await channel.closed
  const chooser = page.waitForEvent('filechooser')
  await page.locator('#ask').click()
  await chooser
})
