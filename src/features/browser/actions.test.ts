import { describe, expect, it } from 'vitest'
import { errorRow, row } from '#test/spec/row.ts'
import { type Action, browserPath, browserStage, type Executed } from '#test/support/action-stage.ts'
import { makeAgent } from '#test/support/agents.ts'
import { makePdf } from '#test/support/documents.ts'
import { eventually } from '#test/support/eventually.ts'
import type { SiteAnswer } from '#test/support/site-server.ts'

const html = (title: string, body: string) => `<!doctype html><title>${title}</title><body>${body}`

const pages: Record<string, string | SiteAnswer> = {
  '/': html(
    'Start',
    '<h1>Start</h1><a href="/form">To the form</a><a href="/nowhere" id="far" hidden>Far</a>',
  ),
  '/form': html(
    'Form',
    `<form action="/sent" method="post" enctype="multipart/form-data">
      <label>Name <input name="name" value="Nobody"></label>
      <label>Size <select name="size"><option value="s">Small</option><option value="l">Large</option></select></label>
      <label>Toppings <select name="toppings" multiple><option>Ham</option><option>Figs</option><option>Leeks</option></select></label>
      <label>File <input type="file" name="file"></label>
      <button>Send</button></form>
      <p id="hidden" style="display:none">Hidden</p>`,
  ),
  '/frames': html('Frames', '<iframe src="/frame" title="Outer"></iframe>'),
  '/frame': html(
    'Frame',
    '<iframe srcdoc="<button onclick=\'parent.parent.document.title = `Deep`\'>Deep</button>"></iframe>',
  ),
  '/shadow': html(
    'Shadow',
    '<div id="host"></div><script>host.attachShadow({ mode: "open" }).innerHTML = "<button onclick=\\"document.title = `Lit`\\">Lit</button>"</script>',
  ),
  '/dialogs': html(
    'Dialogs',
    `<button onclick="alert('Hello'); document.title = String(confirm('Sure?')) + prompt('Who?', 'Ada')">Ask</button>`,
  ),
  '/popup': html('Popup', '<a href="/form" target="_blank">Open</a><button onclick="close()">Close</button>'),
  '/downloads': html(
    'Downloads',
    '<a href="/file" download>File</a><a href="/pdf" target="_blank">PDF</a><a href="/large" download>Large</a>',
  ),
  '/file': { headers: { 'content-disposition': 'attachment; filename="../../a b.bin"' }, body: 'The file' },
  '/large': { headers: { 'content-disposition': 'attachment' }, body: 'x'.repeat(200_000) },
  '/pdf': { headers: { 'content-type': 'application/pdf' }, body: makePdf(['A harbour']) },
  '/scroll': html('Scroll', '<div style="height:5000px">Tall</div><p id="end">End</p>'),
  '/worker': html(
    'Worker',
    '<script>navigator.serviceWorker.register("/worker.js").then(() => navigator.serviceWorker.ready).then(() => document.title = "Ready")</script>',
  ),
  '/worker.js': {
    headers: { 'content-type': 'text/javascript' },
    body: 'onfetch = event => { if (event.request.url.endsWith("/made")) event.respondWith(new Response("<title>Made</title>", { headers: { "content-type": "text/html" } })) }',
  },
  '/leaving': html(
    'Leaving',
    '<button>Touch</button><a href="/">Away</a><script>onbeforeunload = event => event.preventDefault()</script>',
  ),
}

Object.assign(pages, {
  '/late': html(
    'Late',
    `<button id="opener">Opener</button><a href="/">Start</a><script>document.querySelector('button').onclick = event => { event.target.hidden = true; setTimeout(() => window.open('/form'), 500) }</script>`,
  ),
  '/scrolls': html(
    'Scrolls',
    `<style>body{margin:0;overflow:hidden}div{overflow:auto;width:200px;height:200px}p{margin:0;width:400px;height:500px}</style>
    <div id="list"><p>Tall</p></div><div id="wide"><p style="height:10px">Wide</p></div>`,
  ),
  '/scrolled-frame': html(
    'Frame',
    '<style>body{margin:0}iframe{border:0;width:100%;height:99vh}</style><iframe src="/scroll"></iframe>',
  ),
  '/nested': html(
    'Nested',
    `<style>body{margin:0;height:3000px}#inner{width:100vw;height:500px;overflow:auto}</style>
    <div id="inner"><p style="margin:0;height:600px">Inner</p></div><script>wheels = 0; onwheel = () => wheels++</script>`,
  ),
  '/keys': html(
    'Keys',
    '<form action="/"><input></form><script>onkeydown = event => { document.title = document.title.replace("Keys", "") + event.key }</script>',
  ),
} satisfies typeof pages)

/** Pages by what follows the question mark. */
function madeOf(path: string): string | undefined {
  const [name, given = ''] = decodeURIComponent(path).split('?')
  if (name === '/styled')
    return html(
      'Styled',
      `<label style="display:block"><input type="checkbox" style="${given}" onchange="document.title = checked"><span style="background:#eee"> ☐ </span><a href="/form">all of these long terms and conditions, in full</a></label>`,
    )
  if (name !== '/dates') return undefined
  return `<html lang="${given}">${html(
    'Dates',
    `<input id="date" type="date" value="2026-01-01"><input id="time" type="time" value="09:00"><input id="moment" type="datetime-local"><input id="month" type="month" value="2026-01"><input id="week" type="week" value="2026-W01"><input id="colour" type="color" value="#112233">
    <input id="range" type="range" min="10" max="90" step="5" value="20"><input id="number" type="number" step="any" value="1">`,
  )}`
}

const sent: string[] = []
const stage = browserStage(
  ({ path, method }, response) => {
    if (method !== 'POST') return pages[path] ?? madeOf(path)
    const body: Buffer[] = []
    response.req.on('data', (chunk: Buffer) => body.push(chunk))
    return new Promise(resolve =>
      response.req.on('end', () => {
        sent.push(Buffer.concat(body).toString())
        resolve(html('Sent', 'Thank you'))
      }),
    )
  },
  { MAX_UPLOAD_BYTES: '100000', DEV_USER: 'dev@example.com' },
)
const open = (path: string) => stage.result({ action: 'navigate', url: stage.site.url + path })
const path = () => `${browserPath}/${stage.sessionId}`

describe(`actions ${row('POST /api/agents/{id}/browser/{sessionId}/execute')}`, () => {
  it('fill in a form, choose, upload and send it', async () => {
    expect(await open('/')).toMatchObject({ status: 200, url: `${stage.site.url}/`, title: 'Start' })
    expect(await stage.result({ action: 'click', selector: 'text=To the form' })).toMatchObject({
      title: 'Form',
    })
    const { status, body } = await stage.run(
      { action: 'type', selector: '//input[@name="name"]', text: 'Ada' },
      { action: 'select', selector: 'select[name=size]', value: 'Large' },
      { action: 'select', selector: 'select[name=toppings]', values: ['Ham', 'Leeks'] },
      {
        action: 'upload',
        selector: 'input[type=file]',
        files: [{ name: 'list.txt', mime_type: 'text/plain', data: Buffer.from('Leeks').toString('base64') }],
      },
      { action: 'extract', selector: 'input[name=name]', attribute: 'value' },
      { action: 'extract', selector: 'label' },
      { action: 'extract', selector: 'select[name=size]', attribute: 'html' },
      { action: 'extract', selector: 'form', attribute: 'action' },
      { action: 'hover', selector: 'role=button[name="Send"]' },
      { action: 'click', selector: 'role=button[name="Send"]' },
    )
    expect(status).toBe(200)
    expect(body).toMatchObject({ success: true, total_duration_ms: expect.any(Number) })
    expect(body.results?.map(({ result }) => result?.value).slice(4, 8)).toEqual([
      'Ada',
      'Name',
      expect.stringContaining('Small</option>'),
      '/sent',
    ])
    expect(body.results?.at(-1)).toMatchObject({
      action: 'click',
      success: true,
      duration_ms: expect.any(Number),
      result: { url: `${stage.site.url}/sent`, title: 'Sent' },
    })
    for (const part of ['Ada', 'Leeks', 'filename="list.txt"', 'text/plain']) expect(sent[0]).toContain(part)
    expect(sent[0]?.match(/name="toppings"/g)).toHaveLength(2)
  })

  it('press keys, evaluate, scroll, wait and draw', async () => {
    await open('/scroll')
    const evaluate = async (expression: string) =>
      (await stage.result({ action: 'evaluate', expression })).value
    expect(await evaluate('({ sum: 1 + 2, none: undefined, big: 3n })')).toEqual({ sum: 3, big: '3' })
    expect(await evaluate('Promise.resolve([document.title])')).toEqual(['Scroll'])
    expect(await evaluate('undefined')).toBeNull()
    expect(await stage.result({ action: 'scroll', direction: 'down', amount: 300 })).toMatchObject({
      moved: { x: 0, y: 300 },
    })
    expect(await stage.result({ action: 'press', key: 'End' })).toMatchObject({ title: 'Scroll' })
    expect(await stage.result({ action: 'wait', selector: '#end', state: 'visible' })).toMatchObject({
      title: 'Scroll',
    })
    expect(await stage.result({ action: 'wait', selector: '#start', state: 'detached' })).toBeDefined()
    const small = String((await stage.result({ action: 'screenshot' })).image)
    const whole = String((await stage.result({ action: 'screenshot', full_page: true })).image)
    expect([small, whole].every(image => image.startsWith('data:image/png;base64,iVBOR'))).toBe(true)
    const heights = [small, whole].map(image => Buffer.from(image.slice(22), 'base64').readUInt32BE(20))
    expect(heights).toEqual([720, expect.toSatisfy(height => Number(height) > 5000)])
  })

  it('reach into nested frames and open shadow roots by the references of the outline', async () => {
    await open('/frames')
    await stage.result({ action: 'click', selector: await refOf('Deep') })
    expect(await open('/shadow')).toMatchObject({ title: 'Shadow' })
    expect(await stage.result({ action: 'click', selector: await refOf('Lit') })).toMatchObject({
      title: 'Lit',
    })
    await open('/frames')
    expect(await stage.result({ action: 'click', selector: await refOf('Deep') })).toMatchObject({
      title: 'Deep',
    })
  })

  it('tell of dialogs and how they were answered', async () => {
    await open('/dialogs')
    const ask = { action: 'click', selector: 'button' }
    expect(await stage.result(ask)).toMatchObject({
      title: 'falsenull',
      dialogs: [
        { type: 'alert', message: 'Hello', accepted: true },
        { type: 'confirm', message: 'Sure?', accepted: false },
        { type: 'prompt', message: 'Who?', accepted: false },
      ],
    })
    const accepted = await stage.result({ ...ask, dialog: 'accept' })
    expect(accepted).toMatchObject({
      title: 'trueAda',
      dialogs: [{}, { accepted: true }, { accepted: true }],
    })
    expect(await stage.result({ action: 'wait', selector: 'button' })).not.toHaveProperty('dialogs')
  })

  it('go on in a new tab, and back in the one before when it closes', async () => {
    await open('/popup')
    const opened = await stage.result({ action: 'click', selector: 'text=Open' })
    expect(opened).toMatchObject({ title: 'Form', tabs: [{ url: `${stage.site.url}/form`, title: 'Form' }] })
    await stage.result({ action: 'evaluate', expression: 'void setTimeout(close)' })
    expect(await stage.result({ action: 'wait', selector: 'text=Close' })).toMatchObject({ title: 'Popup' })
  })

  it('stay on a page that asks whether to leave it, unless they are to leave it or accept', async () => {
    const touched = async () => {
      await open('/leaving')
      await stage.result({ action: 'click', selector: 'button' })
    }
    const asked = (accepted: boolean) => ({ dialogs: [{ type: 'beforeunload', accepted }] })
    const link = { action: 'click', selector: 'a' }
    await open('/')
    await touched()
    expect(await stage.result(link)).toMatchObject({ title: 'Leaving', ...asked(false) })
    expect(await stage.result({ ...link, dialog: 'accept' })).toMatchObject({
      title: 'Start',
      ...asked(true),
    })
    for (const action of [{ action: 'navigate', url: `${stage.site.url}/` }, { action: 'back' }]) {
      await touched()
      await stage.result(link)
      expect(await stage.result(action)).toMatchObject({ title: 'Start', ...asked(true) })
    }
    const away = await stage.run(
      { action: 'back' },
      { action: 'back' },
      { action: 'back' },
      { action: 'back' },
    )
    expect(away.body.results?.length).toBeGreaterThan(0)
  })

  it('list, choose and close tabs, and report one that opened late', async () => {
    await open('/late')
    await stage.result({ action: 'click', selector: 'button' })
    await eventually(async () => {
      const { body } = await stage.run({ action: 'click', selector: '#opener', timeout: 100 })
      expect(body.error?.message).toContain(`is the active one: ${stage.site.url}/form`)
    })
    const { open_tabs: tabs, ...others } = await stage.result({ action: 'tabs' })
    expect(others).toMatchObject({ tabs: [{ url: `${stage.site.url}/form`, title: 'Form' }] })
    const urls = (tabs as { url: string }[]).map(({ url }) => new URL(url).pathname)
    const at = urls.indexOf('/late') + 1
    expect(await stage.result({ action: 'tabs', choose: at })).toMatchObject({ title: 'Late' })
    await stage.result({ action: 'outline' })
    const selector = await refOf('Start')
    await stage.result({ action: 'tabs', choose: urls.indexOf('/form') + 1 })
    expect((await stage.run({ action: 'click', selector })).body.error?.message).toContain(
      'read the page again',
    )
    const closed = await stage.result({ action: 'tabs', close: urls.indexOf('/form') + 1 })
    expect(closed.open_tabs).toHaveLength(urls.length - 1)
    expect(closed).not.toHaveProperty('tabs')
  })

  it.each<[path: string, scroll: object, moved: object]>([
    ['/scroll', { direction: 'down', amount: 300 }, { x: 0, y: 300 }],
    ['/scrolls', { direction: 'down', amount: 100 }, { x: 0, y: 100 }],
    ['/scrolls', { direction: 'right', amount: 70, selector: '#wide' }, { x: 70, y: 0 }],
    ['/scrolls', { direction: 'down', amount: 9000, selector: '#list' }, { x: 0, y: 300 }],
    ['/scrolls', { direction: 'up' }, { x: 0, y: 0 }],
    ['/scrolled-frame', { direction: 'down', amount: 250 }, { x: 0, y: 250 }],
  ])('scroll %s by %j', async (path, scroll, moved) => {
    await open(path)
    expect(await stage.result({ action: 'scroll', ...scroll })).toMatchObject({ moved })
  })

  it('turn the wheel over an element, whose end passes it on', async () => {
    await open('/nested')
    const down = { action: 'scroll', direction: 'down', amount: 200, selector: '#inner' }
    expect(await stage.result(down)).toMatchObject({ moved: { y: 100 } })
    expect(await stage.result({ ...down, selector: undefined })).toMatchObject({ moved: { y: 200 } })
    expect(await stage.result({ action: 'evaluate', expression: 'wheels' })).toMatchObject({ value: 2 })
  })

  it.each([
    ['hidden', 'display:none'],
    ['without a size', 'width:0;height:0;appearance:none;margin:0'],
    ['covered', 'position:absolute;z-index:-1'],
    ['transparent', 'opacity:0'],
  ])('click the label of a checkbox that is %s, and not the link in it', async (_what, style) => {
    await open(`/styled?${style}`)
    for (const expected of ['true', 'false']) {
      const { title } = await stage.result({ action: 'click', selector: 'input', timeout: 1500 })
      expect(title).toBe(expected)
    }
  })

  it.each([
    ['#date', '3/4/2026', 'en-US', '2026-03-04'],
    ['#date', '3/4/2026', 'de-AT', '2026-04-03'],
    ['#date', '12/31/2026', 'de', '2026-12-31'],
    ['#date', '31/12/2026', 'en-US', '2026-12-31'],
    ['#moment', '12/31/2026, 5 pm', '', '2026-12-31T17:00'],
    ['#time', '5:05 p.m.', '', '17:05'],
    ['#colour', 'rebeccapurple', '', '#663399'],
    ['#range', '35', '', '35'],
    ['#number', '12.50', '', '12.50'],
  ])('type into %s %j of a page in %j', async (selector, text, language, value) => {
    await open(`/dates?${language}`)
    await stage.result({ action: 'type', selector, text })
    const { value: given } = await stage.result({ action: 'extract', selector, attribute: 'value' })
    expect(given).toBe(value)
  })

  it.each([
    ['#date', '3/4/2026', 'may mean 2026-04-03 or 2026-03-04'],
    ['#date', '2026-02-30', 'must be a date such as'],
    ['#date', '29/2/2026', 'must be a date such as'],
    ['#moment', '2026-12-31T24:00', 'must be a date and a time'],
    ['#month', '13/2026', 'must be a month such as'],
    ['#week', 'week 53 of 2025', 'must be a week with its year'],
    ['#time', '25:00', 'must be a time such as'],
    ['#range', '', 'from 10 to 90'],
    ['#colour', 'reddish', 'must be a colour, such as'],
    ['#range', '34', 'from 10 to 90 in steps of 5'],
    ['#number', '12,5', 'must be a number such as'],
  ])('do not type into %s %j, and leave it as it was', async (selector, text, message) => {
    await open('/dates?')
    const before = await stage.result({ action: 'extract', selector, attribute: 'value' })
    const { status, body } = await stage.run({ action: 'type', selector, text })
    expect([status, body.error?.details?.field]).toEqual([400, 'text'])
    expect(body.error?.message).toContain(message)
    expect(await stage.result({ action: 'extract', selector, attribute: 'value' })).toEqual(before)
  })

  it('type key by key, and submit with Enter', async () => {
    await open('/keys')
    const typed = { action: 'type', selector: 'input', text: 'tea', by_key: true }
    expect(await stage.result(typed)).toMatchObject({ title: expect.stringMatching(/tea$/) })
    expect(await stage.result({ ...typed, by_key: false, submit: true })).toMatchObject({ title: 'Start' })
  })

  it('work with service workers', async () => {
    await open('/worker')
    await stage.result({ action: 'evaluate', expression: 'navigator.serviceWorker.ready.then(() => true)' })
    expect(await open('/made')).toMatchObject({ status: 200, title: 'Made' })
  })

  it('end at the first that fails', async () => {
    await open('/form')
    const { status, body } = await stage.run(
      { action: 'extract', selector: 'label' },
      { action: 'click', selector: '#hidden', timeout: 200 },
      { action: 'extract', selector: 'label' },
    )
    expect([status, body.success]).toEqual([200, false])
    expect(body.results?.map(({ success }) => success)).toEqual([true, false])
    expect(body.results?.[1]?.error).toContain('#hidden')
  })
})

describe(`downloads ${row('POST /api/agents/{id}/browser/{sessionId}/execute')}`, () => {
  const read = async (id: unknown) => await stage.app.call('GET', `${path()}/downloads/${String(id)}`)

  /** What the action has had downloaded, which its own result need not tell yet. */
  async function downloadsAfter(action: Action) {
    let { downloads } = await stage.result(action)
    await eventually(async () => {
      downloads ??= (await stage.result({ action: 'outline' })).downloads
      expect(downloads).toMatchObject([{ state: expect.not.stringMatching('in_progress') }])
    })
    return downloads as { id: string; name: string }[]
  }

  it('are kept with the session and can be read', async () => {
    await open('/downloads')
    const downloads = await downloadsAfter({ action: 'click', selector: 'text=File' })
    expect(downloads).toEqual([
      { id: expect.any(String), name: expect.any(String), state: 'complete', size: 8 },
    ])
    const [file] = downloads
    expect(file?.name).not.toMatch(/[/\\]/)
    expect(await read(file?.id)).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'application/octet-stream',
        'content-disposition': expect.stringMatching(/^attachment;/),
      },
      body: 'The file',
    })
    expect(await read('nothing')).toMatchObject({ status: 404 })
    const agentId = await makeAgent(stage.app)
    const elsewhere = `/api/agents/${agentId}/browser`
    const theirs = (await stage.app.call<{ id: string }>('POST', elsewhere, { body: {} })).body.id
    for (const at of [
      `${elsewhere}/${theirs}`,
      `${elsewhere}/${stage.sessionId}`,
      `${browserPath}/${theirs}`,
    ])
      expect(await stage.app.call('GET', `${at}/downloads/${file?.id}`)).toMatchObject({ status: 404 })
  })

  it('give the PDF of an address, opened or in a new tab', async () => {
    const opened = await downloadsAfter({ action: 'navigate', url: `${stage.site.url}/pdf` })
    await open('/downloads')
    const clicked = await downloadsAfter({ action: 'click', selector: 'text=PDF' })
    for (const [file] of [opened, clicked])
      expect(await read(file?.id)).toMatchObject({ status: 200, body: expect.stringMatching(/^%PDF/) })
    expect(await stage.result({ action: 'outline' })).toMatchObject({ title: 'Downloads' })
  })

  it('larger than the limit are refused in words', async () => {
    await open('/downloads')
    const downloads = await downloadsAfter({ action: 'click', selector: 'text=Large' })
    expect(downloads).toMatchObject([{ state: 'refused', error: expect.stringContaining('larger than') }])
    const [file] = downloads
    expect(await read(file?.id)).toMatchObject({ status: 404 })
  })
})

async function refOf(name: string): Promise<string> {
  const { outline } = await stage.result({ action: 'outline', find: name })
  return `ref=${/\[ref=(\w+)\]/.exec(String(outline))?.[1]}`
}

describe('what can go wrong', () => {
  it.each<[action: Omit<Action, 'action'> & { action?: unknown }, field: string]>([
    [{}, 'body'],
    [{ timeout: 1 }, 'action'],
    [{ action: 'jump' }, 'action'],
    [{ action: 'click' }, 'selector'],
    [{ action: 'click', selector: '' }, 'selector'],
    [{ action: 'click', selector: '#[' }, 'selector'],
    [{ action: 'click', selector: 'xpath=//[' }, 'selector'],
    [{ action: 'click', selector: 'role=foo[' }, 'selector'],
    [{ action: 'click', selector: 'text=' }, 'selector'],
    [{ action: 'click', selector: 'internal:control=enter-frame' }, 'selector'],
    [{ action: 'click', selector: 'nth=0' }, 'selector'],
    [{ action: 'click', selector: 'ref=e999' }, 'selector'],
    [{ action: 'click', selector: 'a', timeout: 0 }, 'timeout'],
    [{ action: 'click', selector: 'a', timeout: 60_001 }, 'timeout'],
    [{ action: 'click', selector: 'a', dialog: 'dismiss' }, 'dialog'],
    [{ action: 'navigate' }, 'url'],
    [{ action: 'navigate', url: 'file:///etc/hostname' }, 'url'],
    [{ action: 'navigate', url: 'chrome://version' }, 'url'],
    [{ action: 'navigate', url: 'view-source:https://example.com' }, 'url'],
    [{ action: 'navigate', url: 'javascript:1' }, 'url'],
    [{ action: 'navigate', url: 'data:text/html,hello' }, 'url'],
    [{ action: 'navigate', url: 'example.com' }, 'url'],
    [{ action: 'type', selector: 'input[name=name]' }, 'text'],
    [{ action: 'type', selector: 'h1, form', text: 'a' }, 'selector'],
    [{ action: 'press', key: 'Nonsense' }, 'key'],
    [{ action: 'tabs', choose: 99 }, 'choose'],
    [{ action: 'tabs', close: 99 }, 'close'],
    [{ action: 'tabs', choose: 1, close: 1 }, 'close'],
    [{ action: 'scroll', direction: 'in', amount: 1 }, 'direction'],
    [{ action: 'scroll', direction: 'up', amount: -1 }, 'amount'],
    [{ action: 'wait', selector: 'a', state: 'gone' }, 'state'],
    [{ action: 'select', selector: 'select' }, 'value'],
    [{ action: 'select', selector: 'form', value: 'a' }, 'selector'],
    [{ action: 'upload', selector: 'input', files: [{ name: '', data: '' }] }, 'files.0.name'],
    [{ action: 'upload', selector: 'input', files: [{ data: '' }] }, 'files.0.name'],
    [{ action: 'upload', selector: 'input', files: [{ name: 'a', data: '?' }] }, 'files.0.data'],
    [{ action: 'upload', selector: 'form', files: [{ name: 'a', data: '' }] }, 'selector'],
    [{ action: 'evaluate', expression: 'return 1' }, 'expression'],
    [{ action: 'evaluate', expression: '["x".repeat(2000000)]' }, 'expression'],
    [{ action: 'outline', ref: 'e999' }, 'ref'],
    [{ actions: [] }, 'actions'],
    [{ actions: [{ action: 'outline' }, { action: 'click' }] }, 'actions.1.selector'],
    [{ action: 'outline', actions: [{ action: 'outline' }] }, 'action'],
  ])(`%.90j names the field ${errorRow('browser', 400)}`, async (body, field) => {
    await open('/form')
    const answer = await stage.app.call<Executed>('POST', `${path()}/execute`, { body })
    expect([answer.status, answer.body.error?.code, answer.body.error?.details?.field]).toEqual([
      400,
      'VALIDATION_ERROR',
      field,
    ])
  })

  it.each<[Action, string]>([
    [{ action: 'click', selector: '#nothing' }, '#nothing'],
    [{ action: 'click', selector: '#hidden', timeout: 2000 }, 'not visible'],
    [{ action: 'extract', selector: '#nothing' }, '#nothing'],
    [{ action: 'wait', selector: 'form', state: 'hidden' }, 'form to be hidden'],
    [
      { action: 'select', selector: 'select', value: 'Huge', timeout: 2000 },
      'There is no option Huge. The options are: "Small" (s), "Large" (l).',
    ],
    [{ action: 'evaluate', expression: 'new Promise(() => {})' }, 'the value of the expression'],
  ])(`%.80j in vain says what was waited for ${errorRow('browser', 408)}`, async (action, waited) => {
    await open('/form')
    const { status, body } = await stage.run({ timeout: 250, ...action })
    expect([status, body.error?.code]).toEqual([408, 'ACTION_TIMEOUT'])
    expect(body.error?.message).toContain(waited)
    expect(await stage.result({ action: 'extract', selector: 'label' })).toMatchObject({ title: 'Form' })
  })

  it.each<[Action, RegExp]>([
    [{ action: 'evaluate', expression: 'nothing.here' }, /ReferenceError: nothing is not defined/],
    [{ action: 'evaluate', expression: 'const a = {}; a.a = a; a' }, /circular/],
    [{ action: 'navigate', url: 'http://127.0.0.1:2/' }, /127\.0\.0\.1/],
  ])(`%.80j says what the page did ${errorRow('browser', 500)}`, async (action, message) => {
    const { status, body } = await stage.run(action)
    expect([status, body.error?.code]).toEqual([500, 'BROWSER_FAILED'])
    expect(body.error?.message).toMatch(message)
  })

  it('a reference of a page that was left is told at once', async () => {
    await open('/form')
    const selector = await refOf('Send')
    await open('/downloads')
    const { status, body } = await stage.run({ action: 'click', selector, timeout: 60_000 })
    expect([status, body.error?.details?.field]).toEqual([400, 'selector'])
    expect(body.error?.message).toContain('read the page again')
  })

  it('an attribute may have any name', async () => {
    await open('/form')
    for (const attribute of ['constructor', 'toString', '__proto__'])
      expect(await stage.result({ action: 'extract', selector: 'form', attribute })).toMatchObject({
        value: null,
      })
  })

  it('an address that the guard refuses is told with its host', async () => {
    for (const url of ['http://169.254.169.254/', 'https://10.0.0.1/', `${stage.site.url}/away`]) {
      pages['/away'] = { status: 302, headers: { location: 'http://192.168.0.1/' } }
      const { status, body } = await stage.run({ action: 'navigate', url })
      expect([status, body.error?.code]).toEqual([400, 'OUTBOUND_REFUSED'])
      expect(body.error?.message).toMatch(/169\.254\.169\.254|10\.0\.0\.1|192\.168\.0\.1/)
    }
  })

  it.each([
    ['an endless loop', 'while (true) {}', 408, /replaced by an empty one/],
    ['alerts without end', 'while (true) alert(1)', 408, /replaced by an empty one/],
  ])('%s costs its tab', async (_what, expression, status, message) => {
    await open('/form')
    const answer = await stage.run({ action: 'evaluate', expression, timeout: 300 })
    expect(answer.status).toBe(status)
    expect(answer.body.error?.message).toMatch(message)
    expect(await open('/form')).toMatchObject({ title: 'Form' })
  })

  it('a loop that begins after the action is told of beside its result', async () => {
    await open('/form')
    const expression = 'setTimeout(() => { while (true) {} }, 60), 7'
    const result = await stage.result({ action: 'evaluate', expression, timeout: 3000 })
    expect(result).toMatchObject({ value: 7, url: 'about:blank', note: expect.stringContaining('replaced') })
    expect(await open('/form')).toMatchObject({ title: 'Form' })
  })

  it('a page that takes all memory costs its tab', async () => {
    await open('/form')
    const expression = 'const all = []; while (true) all.push(new Array(2 ** 23).fill(0.5))'
    const { status, body } = await stage.run({ action: 'evaluate', expression, timeout: 30_000 })
    expect([status, body.error?.code]).toEqual([500, 'BROWSER_FAILED'])
    expect(await open('/form')).toMatchObject({ title: 'Form' })
  })

  it(`an unknown session is missing ${errorRow('browser', 404)}`, async () => {
    for (const [method, rest] of [
      ['POST', 'execute'],
      ['GET', 'downloads/a'],
    ] as const) {
      const options = method === 'POST' ? { body: { action: 'outline' } } : {}
      expect(await stage.app.call(method, `${browserPath}/none/${rest}`, options)).toMatchObject({
        status: 404,
      })
    }
  })
})
