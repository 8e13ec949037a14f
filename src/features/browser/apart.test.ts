import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openSession } from '#test/support/browser-stage.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import {
  clicks,
  modifier,
  openChannel,
  presses,
  specificationShape,
  types,
} from '#test/support/cast-client.ts'
import { eventually } from '#test/support/eventually.ts'
import { type Site, startSite } from '#test/support/site-server.ts'

const shape = specificationShape
const form = `<title>Form</title><style>body { margin: 0 } * { position: absolute }</style>
  <form><input id=from value="copied in the first" style="left: 100px; top: 100px">
  <input id=to name=to style="left: 100px; top: 200px"><button style="left: 100px; top: 300px">Send</button></form>
  <a href="/file" style="left: 100px; top: 400px">File</a><iframe src="/frame" style="left: 100px; top: 500px"></iframe>
  <script>to.oninput = () => { console.log('typed ' + to.value); document.title = 'Form ' + to.value }</script>`

let app: TestApp
let origin: string
let site: Site

beforeAll(async () => {
  app = await buildApp({ environment: { DEV_USER: 'dev@example.com', OUTBOUND_ALLOW: '127.0.0.1' } })
  origin = await app.listen()
  site = await startSite(({ path }) => {
    const headers = { 'content-disposition': 'attachment; filename=file.txt' }
    if (path === '/file') return { headers, body: 'content' }
    return path === '/frame' ? '<a href="/file">In a frame</a>' : form
  })
})

afterAll(async () => {
  await app.close()
  await site[Symbol.asyncDispose]()
})

async function openForm() {
  const { id, path, session } = await openSession(app)
  const page = await session.page()
  await page.goto(site.url)
  const channel = await openChannel(origin, `/v1/sessions/cast?sessionId=${id}`)
  onTestFinished(() => channel[Symbol.asyncDispose]())
  return {
    id,
    path,
    session,
    page,
    channel,
    act: async (action: object) =>
      (await app.call<{ result: Record<string, unknown> }>('POST', `${path}/execute`, { body: action })).body
        .result,
    send: (...messages: object[]) => {
      for (const message of messages.flat()) channel.send(message)
    },
  }
}

describe('two sessions of an agent', () => {
  it.each(['actions', 'a person'])('have a clipboard each, by keys of %s', async who => {
    const [first, second] = [await openForm(), await openForm()]
    const press = async ({ act, send, page, channel }: typeof first, selector: string, key: string) => {
      await page.locator(selector).focus()
      if (who === 'actions') return await act({ action: 'press', key: `Control+${key}` })
      // The answer to the last message shows that the keys have been taken.
      send(...presses(shape, key, modifier.control), { type: 'getSelectedText' })
      return await channel.next(({ type }) => type === 'selectedTextResponse')
    }
    await press(first, '#from', 'a')
    await press(first, '#from', 'c')
    await press(second, '#to', 'v')
    await press(first, '#to', 'v')
    await eventually(async () => expect(await first.page.inputValue('#to')).toBe('copied in the first'))
    second.send(...types(shape, 'after'))
    await eventually(async () => expect(await second.page.inputValue('#to')).toBe('after'))
  })

  it('paste nothing that is selected elsewhere', async () => {
    const [first, second] = [await openForm(), await openForm()]
    await first.page.locator('#from').selectText()
    await second.page.locator('#to').click({ button: 'middle' })
    await second.page.locator('#to').pressSequentially('typed')
    expect(await second.page.inputValue('#to')).toBe('typed')
  })

  it('have their own downloads', async () => {
    const [first, second] = [await openForm(), await openForm()]
    for (const { act } of [first, second]) await act({ action: 'scroll', direction: 'down' })
    const started = await first.act({ action: 'click', selector: 'text=File' })
    const { id } = (started?.downloads as { id: string }[] | undefined)?.[0] ?? {}
    await first.page.frameLocator('iframe').getByText('In a frame').click()
    await eventually(async () => {
      const { downloads } = (await first.act({ action: 'hover', selector: '#from' })) ?? {}
      expect(downloads).toMatchObject([{ name: 'file.txt', state: 'complete' }])
    })
    expect(await second.act({ action: 'hover', selector: '#from' })).not.toHaveProperty('downloads')
    expect(await app.call('GET', `${second.path}/downloads/${id}`)).toMatchObject({ status: 404 })
    expect(await app.call('GET', `${first.path}/downloads/${id}`)).toMatchObject({ status: 200 })
  })
})

describe('what a person types while the picture is hidden', () => {
  it.each(['hands back', 'shows the picture'])('stays unknown to watchers when the person %s', async how => {
    const { id, path, send, page } = await openForm()
    await app.call('POST', `${path}/takeover`, { body: { reason: 'Enter the code' } })
    const watcher = await openChannel(origin, `/v1/sessions/cast?sessionId=${id}&client=other`)
    const logs = await openChannel<object[]>(origin, `/v1/sessions/logs?sessionId=${id}&client=other`)
    onTestFinished(() => watcher[Symbol.asyncDispose]())
    onTestFinished(() => logs[Symbol.asyncDispose]())
    send(...clicks(shape, { x: 110, y: 210 }), { type: 'hide', hidden: true })
    await watcher.next(({ takeover }) => takeover?.hidden === true, 'a hidden picture')
    send(...types(shape, 'typed-4x'), ...presses(shape, 'Backspace'), ...types(shape, '711'))
    await eventually(async () => expect(await page.inputValue('#to')).toBe('typed-4711'))
    send(how === 'hands back' ? { type: 'handBack' } : { type: 'hide', hidden: false })
    await watcher.next(({ takeover }) => takeover === null || takeover?.hidden === false, 'the picture')
    await page.evaluate(`console.log('again ' + to.value), document.title = 'Again ' + to.value`)
    await page.locator('button').click()
    await watcher.next(({ url, tabs }) => (url ?? tabs?.[0]?.url ?? '').includes('?to='), 'the next page')
    await page.evaluate(
      `document.title = 'Later ' + location.href, history.pushState(null, '', '#' + location.search)`,
    )
    await watcher.next(({ tabs }) => tabs?.[0]?.title.startsWith('Later') === true, 'the last title')
    await eventually(() => expect(JSON.stringify(logs.all)).toContain('again ********'))
    expect(JSON.stringify([watcher.all.map(({ data: _data, ...told }) => told), logs.all])).not.toContain(
      '4711',
    )
  })
})
