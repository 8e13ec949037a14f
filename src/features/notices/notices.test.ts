import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AuditEntry } from '#features/audit/audit.schema.ts'
import type { BrowserEvents } from '#features/browser/browser.events.ts'
import type { Transact } from '#platform/jobs/jobs.ts'
import { makeAgent } from '#test/support/agents.ts'
import { type Answer, testApp } from '#test/support/build-app.ts'
import { type ChannelAgent, type ChannelStage, setChannelStage } from '#test/support/channel-stage.ts'
import { eventually } from '#test/support/eventually.ts'
import { type MailServer, readMail, startMailServer } from '#test/support/mail-server.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { telegramPress } from '#test/support/messenger-deliveries.ts'
import { openaiToolCall } from '#test/support/model-server.ts'
import { passTime } from '#test/support/pass-time.ts'
import { telegramRefusal } from '#test/support/telegram-server.ts'
import { workflowCalls } from '#test/support/workflows.ts'

const second = 1_000
const hour = 3_600_000
const origin = 'https://agents.example'

let mail: MailServer
let stage: ChannelStage
let updates = 1_000
/** The session of a person who may do nothing on the agents. */
let stranger: Record<string, string>

beforeAll(async () => {
  mail = await startMailServer()
  stage = await setChannelStage({ SMTP_URL: mail.url, MAIL_FROM: 'agents@example.com' })
  const agents = [{ id: (await stage.newAgent()).id, role: 'viewer' }]
  await stage.app.call('POST', '/api/invitations', { body: { email: 'eve@example.com', agents } })
  const [token] = /(?<=#invitation=)\S+/.exec(readMail(mail.mails.at(-1)?.raw ?? '').text) ?? []
  const signedIn = await stage.app.call('POST', '/api/auth/link', { body: { token } })
  const cookie = String(signedIn.headers['set-cookie']).split(';')[0] ?? ''
  stranger = { cookie, origin, host: 'agents.example' }
})

afterAll(async () => {
  await stage[Symbol.asyncDispose]()
  await mail[Symbol.asyncDispose]()
})

interface Sent {
  text: string
  /** What the buttons carry: approve and refuse. */
  data: string[]
}

interface Way {
  /** Makes the contact, and returns its id. */
  contact(agent: ChannelAgent): Promise<string>
  /** What was sent since the stage began. */
  sent(): Sent[]
  /** Presses a button, or sends the form behind a link; returns what is said. */
  press(agent: ChannelAgent, data: string, isStranger?: boolean): Promise<string>
}

const addContact = async ({ path }: ChannelAgent, fields: object) => {
  const { body } = await stage.app.call<{ id: string }>('POST', `${path}/contacts`, { body: fields })
  return body.id
}

const wordsOf = ({ body }: Answer<unknown>) => /(?<=<p role="status">)[^<]*/.exec(String(body))?.[0] ?? ''
const pathOf = (link: string) => link.replace(origin, '')

const ways: Record<string, Way> = {
  telegram: {
    async contact(agent) {
      await agent.set({ channel_senders: 'everyone' })
      await agent.telegram({ chat: 77, text: 'Hello' })
      await stage.pass(4 * second)
      await agent.set({ channel_senders: 'contacts' })
      const { body } = await stage.app.call<{ contacts: { id: string }[] }>('GET', `${agent.path}/contacts`)
      return body.contacts[0]?.id ?? ''
    },
    sent: () =>
      stage.telegram.calls('sendMessage').flatMap(({ body }) => {
        const { inline_keyboard: rows = [] } = Object(body.reply_markup)
        const data = rows.flat().map(({ callback_data }: { callback_data: string }) => callback_data)
        return data.length === 0 ? [] : [{ text: String(body.text), data }]
      }),
    async press(agent, data, isStranger) {
      const request = telegramPress(agent.secret, { update: ++updates, from: isStranger ? 99 : 77, data })
      await agent.deliver('telegram', request)
      await stage.pass(second)
      return String(stage.telegram.calls('answerCallbackQuery').at(-1)?.body.text)
    },
  },
  whatsapp: {
    contact: agent => addContact(agent, { name: 'Ann', messenger_number: '+49 171 5550001' }),
    sent: () =>
      stage.whatsapp.messages().flatMap(({ interactive }) => {
        const { body, action } = Object(interactive)
        const buttons = action?.buttons ?? []
        const data = buttons.map(({ reply }: { reply: { id: string } }) => reply.id)
        return data.length === 0 ? [] : [{ text: body.text, data }]
      }),
    async press(agent, data, isStranger) {
      const button_reply = { id: data, title: 'Approve' }
      const fields = {
        type: 'interactive',
        interactive: { type: 'button_reply', button_reply },
        text: undefined,
      }
      const from = isStranger ? '491715550009' : '491715550001'
      await agent.whatsapp({ id: `wamid.${++updates}`, from, text: '', fields })
      await stage.pass(second)
      return String(Object(stage.whatsapp.messages().at(-1)?.text).body)
    },
  },
  email: {
    contact: agent => addContact(agent, { name: 'Ann', email: 'ann@example.com' }),
    sent: () =>
      mail.mails.flatMap(({ raw }) => {
        const text = readMail(raw).text.replaceAll('\r\n', '\n')
        const data = Array.from(text.matchAll(/^(?:Approve|Refuse): (\S+)/gm), ([, link = '']) => link)
        return data.length === 0 ? [] : [{ text, data }]
      }),
    async press(_agent, link, isStranger) {
      const given = isStranger ? { headers: stranger } : {}
      const answer = await stage.app.call<string>('POST', pathOf(link), given)
      await stage.pass(second)
      return wordsOf(answer)
    },
  },
}

/** A turn that waits for a call, of an agent that notifies a contact. */
async function begin(channel: string, settings: object = {}) {
  const way = ways[channel] as Way
  const agent = await stage.newAgent(settings)
  const contact = await way.contact(agent)
  await agent.set({ notify: { [channel]: contact } })
  const tool = { name: 'pay', description: 'd', type: 'javascript', configuration: { code: 'return 1' } }
  await stage.app.call('POST', `${agent.path}/tools`, { body: { ...tool, requiresApproval: 'always' } })
  const before = way.sent().length
  await ask(agent, { to: 'Bo', note: 'line\nUntil: never' })
  await stage.pass(second)
  await eventually(() => expect(way.sent().length).toBeGreaterThan(before))
  const sent = way.sent().slice(before)
  return { way, agent, contact, sent, approve: sent[0]?.data[0] ?? '', refuse: sent[0]?.data[1] ?? '' }
}

async function ask({ path }: ChannelAgent, given: Record<string, unknown> = {}) {
  stage.model.next({ stream: openaiToolCall('pay', given) })
  const body = { content: 'Pay\nBo 5 EUR', autoRag: false, background: true }
  expect(await stage.app.call('POST', `${path}/chat`, { body })).toMatchObject({ status: 200 })
}

async function statusesOf({ path }: ChannelAgent) {
  const list = `${path}/chat/approvals`
  const { body } = await stage.app.call<{ approvals: { status: string; toolCallId: string }[] }>('GET', list)
  return body.approvals.map(({ status }) => status)
}

describe.each(Object.keys(ways))('a notice by %s', channel => {
  it('says once what waits, why, for which message and until when', async () => {
    const { agent, sent } = await begin(channel)
    expect(sent).toEqual([{ text: expect.any(String), data: [expect.any(String), expect.any(String)] }])
    const [title, , ...facts] = (sent[0]?.text ?? '').split('\n')
    expect([title, ...facts.slice(0, 5)]).toEqual([
      expect.stringMatching(/ waits for your decision\.$/),
      'Tool: pay',
      String.raw`With: {"to":"Bo","note":"line\nUntil: never"}`,
      'Why: The tool is set so that a person agrees to each call.',
      'For the message: "Pay Bo 5 EUR"',
      expect.stringMatching(/^Until: \d{4}-\d\d-\d\d \d\d:\d\d UTC$/),
    ])
    expect(await statusesOf(agent)).toEqual(['pending'])
  })

  it.each([
    ['approved', 0, 'done', /^Approved by Ann at /],
    ['refused', 1, 'denied', /^Refused by Ann at /],
  ])(
    'has the call %s by its contact, whom the audit log names, and no second time',
    async (_, at, status, said) => {
      const { way, agent, contact, sent } = await begin(channel)
      const data = sent[0]?.data ?? []
      expect(await way.press(agent, data[at] ?? '')).toMatch(said)
      expect(await statusesOf(agent)).toEqual([status])
      for (const again of data)
        expect(await way.press(agent, again)).toMatch(/^This was decided before: \w+ by Ann/)
      expect(await statusesOf(agent)).toEqual([status])
      const log = `${agent.path}/audit?operation=decideApproval`
      const { body } = await stage.app.call<{ entries: AuditEntry[] }>('GET', log)
      expect(body.entries).toMatchObject([{ actor_kind: 'contact', actor_id: contact, actor_name: 'Ann' }])
    },
  )

  it.each<[string, RegExp, (begun: Awaited<ReturnType<typeof begin>>) => Promise<string>]>([
    ['pressed by another person', /person/, ({ way, agent, approve }) => way.press(agent, approve, true)],
    [
      'with a changed signature',
      /^This (button|link) is not valid/,
      ({ way, agent, approve }) =>
        way.press(
          agent,
          approve.replace(/.$/, last => (last === 'A' ? 'B' : 'A')),
        ),
    ],
    [
      'made for the other decision',
      /^This (button|link) is not valid/,
      ({ way, agent, refuse }) => way.press(agent, refuse.replace(/\bn\./, 'y.')),
    ],
    [
      'of a contact whom the agent no longer notifies',
      /^The agent no longer sends its notices here/,
      async ({ way, agent, approve }) => {
        await agent.set({ notify: null })
        return await way.press(agent, approve)
      },
    ],
  ])('does nothing when %s, and says so', async (_, said, press) => {
    const begun = await begin(channel)
    expect(await press(begun)).toMatch(said)
    expect(await statusesOf(begun.agent)).toEqual(['pending'])
  })

  it('does nothing after its time, or what was decided elsewhere', async () => {
    const { way, agent, approve } = await begin(channel, { approval_timeout: 3600 })
    await stage.pass(hour + second)
    expect(await statusesOf(agent)).toEqual(['denied'])
    expect(await way.press(agent, approve)).toMatch(/^The time to decide was over at .* Nothing was done\.$/)
    const before = way.sent().length
    await ask(agent)
    await stage.pass(second)
    const { body } = await stage.app.call<{ approvals: { toolCallId: string }[] }>(
      'GET',
      `${agent.path}/chat/approvals?status=pending`,
    )
    const decision = `${agent.path}/chat/approvals/${body.approvals[0]?.toolCallId}`
    await stage.app.call('POST', decision, { body: { approved: false } })
    await stage.pass(second)
    expect(await way.press(agent, way.sent()[before]?.data[0] ?? '')).toMatch(/^This call was refused before/)
    expect(await statusesOf(agent)).toEqual(['denied', 'denied'])
  })

  it('decides on a node of a workflow', async () => {
    const way = ways[channel] as Way
    const agent = await stage.newAgent()
    await agent.set({ notify: { [channel]: await way.contact(agent) } })
    const { create, execute, get } = workflowCalls(stage.app, agent.path)
    const nodes = { start: { type: 'trigger' }, ask: { type: 'wait', approval: 'Send to {{name}}?' } }
    const workflow_id = await create(nodes, ['start > ask'])
    const before = way.sent().length
    const { body } = await execute({ workflow_id, input: { name: 'Bo' } })
    await stage.pass(second)
    const [sent] = way.sent().slice(before)
    expect(sent?.text).toMatch(/\nWorkflow: W\nQuestion: Send to Bo\?\nUntil: /)
    expect(await way.press(agent, sent?.data[0] ?? '')).toMatch(/^Approved by Ann/)
    expect(await way.press(agent, sent?.data[1] ?? '')).toMatch(/^This was decided before: Approved by Ann/)
    await stage.pass(second)
    expect((await get(body.execution_id)).body).toMatchObject({
      status: 'complete',
      output: { by: 'contact Ann' },
    })
  })
})

describe('a notice', () => {
  it('by e-mail decides nothing when its links are opened, and shows what they decide', async () => {
    const { agent, sent } = await begin('email')
    for (const [at, link] of (sent[0]?.data ?? []).entries())
      for (const method of ['GET', 'HEAD', 'GET'] as const) {
        const page = await stage.app.call<string>(method, pathOf(link))
        expect(page).toMatchObject({
          status: 200,
          headers: {
            'cache-control': 'no-store',
            'referrer-policy': 'same-origin',
            'content-security-policy': expect.stringMatching(
              /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'$/,
            ),
          },
        })
        if (method === 'GET') {
          expect(page.body).toContain(at === 0 ? '<h1>Approve this?</h1>' : '<h1>Refuse this?</h1>')
          expect(page.body).toContain('&#34;to&#34;:&#34;Bo&#34;')
        }
      }
    expect(await statusesOf(agent)).toEqual(['pending'])
  })

  it('whose link is followed twice at once says both times what was decided', async () => {
    const { agent, approve } = await begin('email')
    const answers = await Promise.all([1, 2].map(() => stage.app.call<string>('POST', pathOf(approve))))
    for (const answer of answers) {
      expect(wordsOf(answer)).toMatch(/^(This was decided before: )?Approved by Ann at /)
      expect(wordsOf(answer)).not.toContain('Nothing was done')
    }
    await stage.pass(second)
    expect(await statusesOf(agent)).toEqual(['done'])
  })

  it('of a messenger opens no page, nor does one of another agent or of none', async () => {
    const { agent, approve } = await begin('telegram')
    const { approve: link } = await begin('email')
    const token = link.split('/').at(-1) ?? ''
    for (const path of [
      `${agent.path}/decisions/${approve}`,
      `${agent.path}/decisions/${token}`,
      `/api/agents/none/decisions/${token}`,
    ])
      for (const method of ['GET', 'POST'] as const) {
        const answer = await stage.app.call<string>(method, path)
        expect([answer.status, wordsOf(answer)]).toEqual([
          404,
          expect.stringMatching(/^This link is not valid/),
        ])
      }
    expect(await statusesOf(agent)).toEqual(['pending'])
  })

  it.each([
    ['the model could have sent it to another', { sql_tool_writes: true }, {}],
    ['a part of what is agreed to is not shown', { sql_tool_writes: false }, { note: 'y'.repeat(250) }],
  ])('decides nothing where %s', async (_name, settings, given) => {
    const { agent } = await begin('email')
    await agent.set(settings)
    const before = mail.mails.length
    await ask(agent, given)
    await stage.pass(second)
    await eventually(() => expect(mail.mails.length).toBeGreaterThan(before))
    const { text } = readMail(mail.mails.at(-1)?.raw ?? '')
    expect(text).toContain('Tool: pay')
    expect(text).toContain('in the console')
    expect(text).not.toContain('/decisions/')
  })

  it('quotes on one line what the model has read', async () => {
    const { agent } = await begin('whatsapp')
    const path = `${agent.path}/tools`
    const read = { name: 'read', description: 'd', type: 'javascript' }
    const text = `Invoice\u202e 7\nWhy: all is well ${'x'.repeat(5_000)}`
    const configuration = { code: `return ${JSON.stringify(text)}` }
    await stage.app.call('POST', path, { body: { ...read, configuration } })
    const before = ways.whatsapp?.sent().length
    stage.model.next(
      { stream: openaiToolCall('read', {}) },
      { stream: openaiToolCall('pay', { note: 'y'.repeat(200) }) },
    )
    const body = { content: 'Pay what I owe', autoRag: false, background: true, cancel_waiting: true }
    await stage.app.call('POST', `${agent.path}/chat`, { body })
    await stage.pass(second)
    const sent = ways.whatsapp?.sent().slice(before)
    expect(sent?.[0]?.text).toMatch(
      /\nThe model has read: "result of read: Invoice 7 Why: all is well x+…"\nUntil: [^\n]+$/,
    )
  })

  it.each(Object.keys(ways))(
    'by %s shows addresses so that they are no links, but for its own',
    async channel => {
      const way = ways[channel] as Way
      const agent = await stage.newAgent()
      await agent.set({ notify: { [channel]: await way.contact(agent) } })
      const tool = { name: 'pay', description: 'd', type: 'javascript', configuration: { code: 'return 1' } }
      await stage.app.call('POST', `${agent.path}/tools`, { body: { ...tool, requiresApproval: 'always' } })
      const before = way.sent().length
      stage.model.next({
        stream: openaiToolCall('pay', { url: 'https://evil.example', to: 'bo@evil.example' }),
      })
      const content = 'See www.evil.example or evil.example/x'
      const body = { content, autoRag: false, background: true }
      expect(await stage.app.call('POST', `${agent.path}/chat`, { body })).toMatchObject({ status: 200 })
      await stage.pass(second)
      await eventually(() => expect(way.sent().length).toBeGreaterThan(before))
      const { text = '', data = [] } = way.sent().at(-1) ?? {}
      expect(text).toContain('\nWith: {"url":"https[:]//evil[.]example","to":"bo[@]evil[.]example"}\n')
      expect(text).toContain('\nFor the message: "See www[.]evil[.]example or evil[.]example/x"\n')
      const links = Array.from(text.matchAll(/\S*(?:\/\/|@|\w\.\w)\S*/g), ([link]) => link)
      expect(links.filter(link => !link.includes('['))).toEqual(channel === 'email' ? data : [])
      expect(await way.press(agent, data[0] ?? '')).toMatch(/^Approved by /)
    },
  )

  it('has no buttons where arguments are too long once their addresses are no links', async () => {
    const { agent } = await begin('whatsapp')
    const before = ways.whatsapp?.sent().length
    const shown = 'x'.repeat(200)
    stage.model.next({ stream: openaiToolCall('pay', { url: 'a.example '.repeat(5) + shown }) })
    const body = { content: 'Pay', autoRag: false, background: true, cancel_waiting: true }
    await stage.app.call('POST', `${agent.path}/chat`, { body })
    await stage.pass(second)
    expect(ways.whatsapp?.sent()).toHaveLength(before ?? -1)
    expect(Object(stage.whatsapp.messages().at(-1)?.text).body).toMatch(/too long to show here/)
  })

  it('is sent once when the messenger fails first, and takes the place of its buttons', async () => {
    const before = ways.telegram?.sent().length
    const agent = await stage.newAgent()
    const contact = await (ways.telegram as Way).contact(agent)
    await agent.set({ notify: { telegram: contact } })
    const tool = { name: 'pay', description: 'd', type: 'javascript', configuration: { code: 'return 1' } }
    await stage.app.call('POST', `${agent.path}/tools`, { body: { ...tool, requiresApproval: 'always' } })
    stage.telegram.next(telegramRefusal(500, 'Internal'), telegramRefusal(429, 'Too many'))
    await ask(agent)
    for (const duration of [1, 2, 6, 60, 60]) await stage.pass(duration * second)
    const sent = ways.telegram?.sent().slice((before ?? 0) + 2) ?? []
    expect(sent).toHaveLength(1)
    await ways.telegram?.press(agent, sent[0]?.data[1] ?? '')
    expect(stage.telegram.calls('editMessageText').at(-1)?.body).toEqual({
      chat_id: '77',
      message_id: 1,
      text: expect.stringMatching(/^.* waits for your decision\.\n[\s\S]*\n\nRefused by Ann at .*$/),
    })
  })

  it('of a takeover has its link, and no buttons', async () => {
    const agent = await stage.newAgent()
    await agent.set({ notify: { whatsapp: await (ways.whatsapp as Way).contact(agent) } })
    const { agentDatabases, transact: transactAny } = stage.app.service.infrastructure
    const transact: Transact<BrowserEvents> = transactAny
    const takeover_url = `${origin}/live/s?token=t`
    const event = {
      agent_id: agent.id,
      session_id: 's',
      takeover_id: 't',
      requested_by: 'model',
      reason: 'A captcha',
      takeover_url,
    }
    await agentDatabases.use(agent.id, handle =>
      transact(handle, (_, outbox) =>
        outbox.emit('browser.takeover_requested', { ...event, expires_at: '2999-01-01T00:00:00.000Z' }),
      ),
    )
    await stage.pass(second)
    expect(stage.whatsapp.messages().at(-1)).toMatchObject({
      type: 'text',
      text: {
        body: expect.stringMatching(/ in its browser\.\n\nWhy: A captcha\nUntil: .*\nOpen: https:\S+$/),
      },
    })
  })

  it('by e-mail has no links where the address of the service is not known', async () => {
    const environment = { SMTP_URL: mail.url, MAIL_FROM: 'agents@example.com', DEV_USER: 'dev@example.com' }
    const clock = manualClock()
    const app = await testApp({ clock, environment: { ...stage.model.environment, ...environment } })
    const id = await makeAgent(app)
    const path = `/api/agents/${id}`
    const contact = { name: 'Ann', email: 'ann@example.com' }
    const added = await app.call<{ id: string }>('POST', `${path}/contacts`, { body: contact })
    await app.call('PUT', `${path}/settings`, { body: { notify: { email: added.body.id } } })
    const { create, execute } = workflowCalls(app, path)
    const nodes = { start: { type: 'trigger' }, ask: { type: 'wait', approval: 'Send?' } }
    await execute({ workflow_id: await create(nodes, ['start > ask']) })
    await passTime(app, clock, second)
    expect(readMail(mail.mails.at(-1)?.raw ?? '').text).toMatch(
      /\r\n\r\nDecide in the console, under “Needs you”\.\s*$/,
    )
  })

  it('that can’t be sent shows in what needs attention, and the turn waits on', async () => {
    const agent = await stage.newAgent()
    const contact = await addContact(agent, { name: 'Ann', email: 'ann@example.com' })
    await agent.set({ notify: { email: contact } })
    await stage.app.call('PUT', `${agent.path}/contacts/${contact}`, { body: { email: null } })
    const tool = { name: 'pay', description: 'd', type: 'javascript', configuration: { code: 'return 1' } }
    await stage.app.call('POST', `${agent.path}/tools`, { body: { ...tool, requiresApproval: 'always' } })
    await ask(agent)
    await stage.pass(second)
    const { body } = await stage.app.call<{ items: object[] }>('GET', `${agent.path}/attention`)
    expect(body.items).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: 'tool_approval' }),
        expect.objectContaining({
          kind: 'failed_notice',
          title: 'email',
          detail: expect.stringMatching(/Ann has no e-mail address/),
        }),
      ]),
    )
  })
})

it.each<[string, (agent: ChannelAgent) => Promise<object | null>, number, RegExp | undefined]>([
  ['nobody', async () => null, 200, undefined],
  ['an unknown contact', async () => ({ email: 'nobody' }), 400, /^notify\.email: names no contact/],
  ['two contacts', async () => ({ email: 'a', telegram: 'b' }), 400, /notify/],
  ['no channel', async () => ({}), 400, /notify/],
  ['an unknown channel', async () => ({ pigeon: 'a' }), 400, /notify/],
  [
    'one without an address',
    async agent => ({ email: await addContact(agent, { name: 'Ann' }) }),
    400,
    /^notify\.email: Ann has no e-mail address/,
  ],
  [
    'one without a number',
    async agent => ({ whatsapp: await addContact(agent, { name: 'Ann' }) }),
    400,
    /^notify\.whatsapp: Ann has no number/,
  ],
  [
    'one who has not written to the bot',
    async agent => ({ telegram: await addContact(agent, { name: 'Ann', messenger_handle: '@ann' }) }),
    400,
    /^notify\.telegram: Ann has not written/,
  ],
])('the setting takes %s, or says why not', async (_, notifyOf, status, error) => {
  const agent = await stage.newAgent()
  const notify = await notifyOf(agent)
  const answer = await stage.app.call<{ error?: { message: string } }>('PUT', `${agent.path}/settings`, {
    body: { notify },
  })
  expect(answer.status).toBe(status)
  if (error) expect(answer.body.error?.message).toMatch(error)
})
