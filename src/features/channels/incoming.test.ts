import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Conversation } from '#features/chat/chat.schema.ts'
import { type ChannelAgent, type ChannelStage, setChannelStage } from '#test/support/channel-stage.ts'
import { heldStream, refusal, usualAnswer } from '#test/support/chat-model.ts'
import { openaiText, openaiToolCall } from '#test/support/model-server.ts'
import { telegramRefusal } from '#test/support/telegram-server.ts'
import { startWebhookReceiver } from '#test/support/webhook-receiver.ts'
import { createChannelsService } from './channels.service.ts'

interface ConversationList {
  conversations: Conversation[]
  meta: { total: number }
}

const second = 1_000
const minute = 60 * second
const chat = 77
let stage: ChannelStage
let agent: ChannelAgent

beforeAll(async () => {
  stage = await setChannelStage()
})

afterAll(() => stage[Symbol.asyncDispose]())

beforeEach(async () => {
  agent = await stage.newAgent({ channel_senders: 'everyone' })
})

/** What was sent to a chat or number, to the last so many. */
const saidOnTelegram = (to = chat) =>
  stage.telegram
    .calls('sendMessage')
    .filter(({ token, body }) => Number(body.chat_id) === to && token.startsWith(`${agent.bot}:`))
    .map(({ body }) => body.text)

/** Everything in the one conversation on a channel: who said what. */
async function talk(channel = 'telegram'): Promise<[role: string, content: string][]> {
  const [conversation] = await agent.conversations(channel)
  if (conversation === undefined) return []
  return (await agent.messages(conversation.id)).map(({ role, content }) => [role, content])
}

describe('a message', () => {
  it('of a contact is answered on Telegram, in a conversation of their own', async () => {
    await agent.set({ channel_senders: 'contacts' })
    const { body: contact } = await stage.app.call<{ id: string }>('POST', `${agent.path}/contacts`, {
      body: { name: 'Ann', messenger_handle: '@Ann_B' },
    })
    expect(await agent.telegram({ chat, username: 'ann_b', text: 'Hello' })).toMatchObject({
      status: 200,
      body: { success: true },
    })
    await stage.pass(2 * second)
    expect(saidOnTelegram()).toEqual([usualAnswer])
    expect(await agent.conversations()).toEqual([])
    const conversations = await agent.conversations('telegram')
    expect(conversations).toMatchObject([{ created_by: 'channel:telegram' }])
    expect(conversations).toMatchObject([{ title: 'Hello', channel: 'telegram', messageCount: 2 }])
    expect(await talk()).toEqual([
      ['user', 'Hello'],
      ['assistant', usualAnswer],
    ])
    const [question] = await agent.messages(conversations[0]?.id ?? '')
    expect(question?.metadata).toMatchObject({ tainted: true })
    const threads = await stage.app.call('POST', `${agent.path}/sql/execute`, {
      body: { query: 'select channel, address, contact_id from channel_threads' },
    })
    expect(threads.body).toMatchObject({
      rows: [['telegram', '77', contact.id]],
    })
  })

  it('makes no model tell what the agent knows of others', async () => {
    await agent.set({ llm_provider: 'builtin' })
    await stage.app.call('POST', `${agent.path}/contacts`, { body: { name: 'Mallory Secret' } })
    await agent.telegram({ chat, text: 'SELECT name FROM contacts' })
    await stage.pass(2 * second)
    expect(saidOnTelegram()).toHaveLength(1)
    expect(saidOnTelegram().join()).not.toContain('Mallory')
  })

  it.each([
    ['+49 170 5551', '491705551'],
    ['+54 (0)11 2345-6789', '5491123456789'],
    ['+52 1 55 1234 5678', '525512345678'],
    ['+55 31 98765-4321', '553187654321'],
  ])('of a contact is answered on WhatsApp, whose phone number is enough: %s', async (phone, from) => {
    await agent.set({ channel_senders: 'contacts' })
    await stage.app.call('POST', `${agent.path}/contacts`, { body: { name: 'Bob', phone } })
    expect(await agent.whatsapp({ id: 'wamid.A', from, text: 'Hallo' })).toMatchObject({ status: 200 })
    await stage.pass(2 * second)
    expect(stage.whatsapp.messages().at(-1)).toMatchObject({ to: from, text: { body: usualAnswer } })
    expect(await talk('whatsapp')).toHaveLength(2)
  })

  it('is announced to webhooks, as is its answer, with the channel and the contact', async () => {
    await using receiver = await startWebhookReceiver(() => ({ status: 200 }))
    await stage.app.call('POST', `${agent.path}/webhooks`, { body: { url: receiver.url, events: ['*'] } })
    await agent.telegram({ chat, text: 'Hello' })
    await stage.pass(2 * second)
    await stage.pass(second)
    expect(receiver.received).toHaveLength(3)
    const events = receiver.received.map(({ body }) => JSON.parse(body))
    const [created, ...messages] = ['contact.created', 'message.received', 'message.sent'].map(type =>
      events.find(event => event.type === type),
    )
    const where = { channel: 'telegram', contact_id: created.data.contact_id }
    for (const { data } of messages) expect(data).toMatchObject(where)
  })

  it('that continues is told with what was said before, and others hear nothing of it', async () => {
    await agent.telegram({ chat, text: 'My name is Ann' })
    await stage.pass(2 * second)
    await agent.telegram({ chat, text: 'Who am I?' })
    await agent.telegram({ chat: 78, name: 'Bob', text: 'Who is Ann?' })
    await stage.pass(2 * second)
    const [mine, others] = stage.model
      .questions()
      .slice(-2)
      .map(({ messages }) => JSON.stringify(messages))
      .toSorted()
    expect([mine, others].filter(text => text?.includes('My name is Ann'))).toHaveLength(1)
    expect(await agent.conversations('telegram')).toHaveLength(2)
  })

  it.each<[string, boolean | undefined, RegExp, number?]>([
    ['approved', true, new RegExp(usualAnswer)],
    ['approved before its model fails', true, new RegExp(usualAnswer), 3],
    ['approved before its model fails for good', true, /^Sorry/, 8 * 3],
    ['refused', false, new RegExp(usualAnswer)],
    ['never decided', undefined, /Nobody decided on the call of look/],
  ])('waits with its answer for a call that is %s, and others wait behind it', async (...row) => {
    const [, decision, said, refusals = 0] = row
    const configuration = { code: 'return 1' }
    const tool = { name: 'look', description: 'd', type: 'javascript', requiresApproval: true }
    await stage.app.call('POST', `${agent.path}/tools`, { body: { ...tool, configuration } })
    stage.model.next({ stream: openaiToolCall('look', {}) })
    await agent.telegram({ chat, text: 'Look' })
    await stage.pass(2 * second)
    await agent.telegram({ chat, text: 'And?' })
    await stage.pass(2 * minute)
    expect(saidOnTelegram()).toEqual([])
    const approvals = `${agent.path}/chat/approvals`
    const { body } = await stage.app.call<{ approvals: { toolCallId: string }[] }>(
      'GET',
      `${approvals}?status=pending`,
    )
    const [call] = body.approvals
    // Each failure is one after three attempts.
    stage.model.next(...Array.from({ length: refusals }, () => refusal(500, 'no')))
    if (decision === undefined) await stage.pass(25 * 60 * minute)
    else await stage.app.call('POST', `${approvals}/${call?.toolCallId}`, { body: { approved: decision } })
    await stage.pass(second)
    await stage.pass(5 * second)
    // Up to the last of its pauses.
    for (let hours = 0; refusals > 3 && hours < 8; hours += 1) await stage.pass(60 * minute)
    expect(saidOnTelegram()).toEqual([expect.stringMatching(said), usualAnswer])
  })

  it.each<[string, (turnId: string, conversationId: string) => Promise<void>, unknown[]]>([
    [
      'until a message in the console came instead',
      async (_, conversationId) => {
        const instead = { content: 'Leave it', conversationId, cancel_waiting: true }
        await stage.app.call('POST', `${agent.path}/chat`, { body: instead })
      },
      [expect.stringContaining('a new message came'), usualAnswer],
    ],
    [
      'and was stopped after a decision that a paused agent has not gone on with',
      async turnId => {
        await stage.app.call('PUT', agent.path, { body: { status: 'paused' } })
        const approvals = `${agent.path}/chat/approvals`
        const { body } = await stage.app.call<{ approvals: { toolCallId: string }[] }>('GET', approvals)
        const place = `${approvals}/${body.approvals[0]?.toolCallId}`
        await stage.app.call('POST', place, { body: { approved: false } })
        const stopped = await stage.app.call('POST', `${agent.path}/chat/turns/${turnId}/stop`)
        expect(stopped.body).toMatchObject({ status: 'stopped' })
        await stage.app.call('PUT', agent.path, { body: { status: 'active' } })
      },
      [usualAnswer],
    ],
  ])('whose answer waited %s keeps none behind it waiting', async (_, end, said) => {
    const configuration = { code: 'return 1' }
    const tool = { name: 'look', description: 'd', type: 'javascript', requiresApproval: true }
    await stage.app.call('POST', `${agent.path}/tools`, { body: { ...tool, configuration } })
    stage.model.next({ stream: openaiToolCall('look', {}) })
    await agent.telegram({ chat, text: 'Look' })
    await stage.pass(2 * second)
    const [conversation] = await agent.conversations('telegram')
    const place = `${agent.path}/chat/conversations/${conversation?.id}/turn`
    const { body } = await stage.app.call<{ turn: { id: string } }>('GET', place)
    await end(body.turn.id, conversation?.id ?? '')
    await agent.telegram({ chat, text: 'And?' })
    await stage.pass(2 * second)
    await stage.pass(5 * second)
    expect(saidOnTelegram()).toEqual(said)
  })

  it('that is none is taken and left alone', async () => {
    const strange = [
      {},
      { text: '  ' },
      { fields: { chat: { id: -5, type: 'group' } }, text: 'x' },
      { fields: { from: { id: 1, is_bot: true, first_name: 'B' } }, text: 'x' },
      { fields: { message_id: 'x' }, text: 'x' },
    ]
    for (const one of strange) expect(await agent.telegram({ chat, ...one })).toMatchObject({ status: 200 })
    for (const fields of [
      { type: 'reaction', text: undefined, reaction: { emoji: 'x', message_id: 'w' } },
      { type: 'system', text: undefined, system: { body: 'A changed from 49 to 50' } },
      { type: 'text', text: { body: ' ' } },
      { type: 'text', text: undefined },
      { group_id: 'g1' },
      { from: '', id: 'x' },
    ])
      expect(
        await agent.whatsapp({ id: '1', from: '49', text: 'x', fields, value: { contacts: null } }),
      ).toMatchObject({ status: 200 })
    for (const update of [{ channel_post: { message_id: 1, text: 'x' } }, { my_chat_member: {} }])
      expect(
        await agent.deliver('telegram', {
          headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': agent.secret },
          payload: JSON.stringify({ update_id: 77_000, ...update }),
        }),
      ).toMatchObject({ status: 200 })
    const kinds = ['reaction', 'system', 'message in a group', 'channel_post', 'my_chat_member']
    for (const kind of kinds) expect(stage.app.logged.join('')).toContain(`"kind":"${kind}"`)
    expect(await agent.count('channel_updates')).toBe(0)
  })

  it('with characters that no database holds is stored without them', async () => {
    await agent.telegram({ chat, name: 'A\0nn', text: 'He\0llo \ud800' })
    await stage.pass(2 * second)
    expect((await talk())[0]).toEqual(['user', 'Hello \ufffd'])
  })

  it('with a caption of a picture, or from a button, counts as text', async () => {
    await agent.telegram({ chat, fields: { caption: 'A picture', photo: [] } })
    await agent.whatsapp({
      id: 'b',
      from: '49',
      text: '',
      fields: { type: 'button', text: undefined, button: { text: 'Yes' } },
    })
    await stage.pass(2 * second)
    expect((await talk())[0]).toEqual(['user', 'A picture'])
    expect((await talk('whatsapp'))[0]).toEqual(['user', 'Yes'])
  })

  it.each<[string, string, object, object?]>([
    ['nothing beside it', 'Hallo', {}, { contacts: undefined, metadata: undefined }],
    ['no profile', 'Hallo', {}, { contacts: [{ wa_id: '4917' }] }],
    ['a profile without a name', 'Hallo', {}, { contacts: [{ wa_id: '4917', profile: {} }] }],
    ['contacts that are null', 'Hallo', {}, { contacts: null }],
    ['a sign before the number', 'Hallo', { from: '+4917' }],
    ['a number beside it only', 'Hallo', { from: undefined }],
    ['no time', 'Hallo', { timestamp: undefined }],
    ['a time that is a number', 'Hallo', { timestamp: 1_790_000_000 }],
    ['no id', 'Hallo', { id: undefined }],
    ['no type', 'Hallo', { type: undefined }],
    [
      'a button of a template',
      'Yes',
      { type: 'button', text: undefined, button: { text: 'Yes', payload: 'y' } },
    ],
    ['a button without a text', 'y', { type: 'button', text: undefined, button: { payload: 'y' } }],
    ...['button_reply', 'list_reply'].map((type): [string, string, object] => [
      `a ${type}`,
      'Blue',
      { type: 'interactive', text: undefined, interactive: { type, [type]: { id: 'b', title: 'Blue' } } },
    ]),
    [
      'a filled form',
      '{"a":1}',
      {
        type: 'interactive',
        text: undefined,
        interactive: { type: 'nfm_reply', nfm_reply: { response_json: '{"a":1}' } },
      },
    ],
    ['a caption', 'My cat', { type: 'image', text: undefined, image: { caption: 'My cat' } }],
    [
      'a picture',
      '[The person sent a picture, which cannot be shown here.]',
      { type: 'image', text: undefined, image: {} },
    ],
    [
      'a sound',
      '[The person sent a voice message or sound, which cannot be shown here.]',
      { type: 'audio', text: undefined, audio: {} },
    ],
    [
      'a location',
      '[The person sent a location, which cannot be shown here. Shop, 52.5, 13.4]',
      { type: 'location', text: undefined, location: { name: 'Shop', latitude: 52.5, longitude: 13.4 } },
    ],
    [
      'nothing that is supported',
      expect.stringContaining('does not pass on'),
      { type: 'unsupported', text: undefined, errors: [] },
    ],
  ])('on WhatsApp is taken with %s', async (_with, content, fields, value = {}) => {
    const written = { id: `wamid.${Math.random()}`, from: '4917', text: 'Hallo', fields, value }
    await agent.whatsapp(written)
    await agent.whatsapp(written)
    await stage.pass(2 * second)
    expect(await talk('whatsapp')).toEqual([
      ['user', content],
      ['assistant', usualAnswer],
    ])
    expect(stage.whatsapp.messages().at(-1)).toMatchObject({ to: '4917' })
  })

  it.each<[string, object, string]>([
    ['photo', { photo: [{}] }, 'a picture'],
    ['voice', { voice: {} }, 'a voice message'],
    ['sticker', { sticker: {} }, 'a sticker'],
    ['location', { location: { latitude: 52.5, longitude: 13.4 } }, '52.5, 13.4'],
    [
      'venue',
      { venue: { title: 'Shop', address: 'Main St' }, location: { latitude: 1, longitude: 2 } },
      'Shop, Main St, 1, 2',
    ],
    ['contact', { contact: {} }, 'a contact'],
  ])('on Telegram that is a %s is a note', async (_kind, fields, note) => {
    await agent.telegram({ chat, fields })
    await stage.pass(2 * second)
    expect((await talk())[0]).toEqual(['user', expect.stringContaining(note)])
    expect(saidOnTelegram()).toEqual([usualAnswer])
  })

  it('of a person whose number WhatsApp hides is theirs by their user id, before and after', async () => {
    const id = 'DE.13491208655302741918'
    const hidden = { from: '', from_user_id: id }
    const contacts = [{ wa_id: '', user_id: id, profile: { username: '@otto' } }]
    await agent.whatsapp({ id: 'u1', from: '4918', text: 'one', fields: { from_user_id: id } })
    await stage.pass(2 * second)
    await agent.whatsapp({ id: 'u2', from: '', text: 'two', fields: hidden, value: { contacts } })
    await stage.pass(2 * second)
    expect(await talk('whatsapp')).toHaveLength(4)
    const other = { ...hidden, from: undefined, from_user_id: 'DE.2' }
    await agent.whatsapp({
      id: 'u3',
      from: '',
      text: 'three',
      fields: other,
      value: { contacts: [{ user_id: 'DE.2' }] },
    })
    await stage.pass(2 * second)
    expect(stage.whatsapp.messages().at(-1)).toMatchObject({ recipient: 'DE.2' })
    expect(stage.whatsapp.messages().at(-1)).not.toHaveProperty('to')
    await agent.whatsapp({ id: 'u4', from: '4919', text: 'four', fields: { from_user_id: 'DE.2' } })
    await stage.pass(2 * second)
    expect(await agent.count('channel_threads')).toBe(2)
    expect(await agent.count('contacts')).toBe(2)
    const { body } = await stage.app.call('GET', `${agent.path}/contacts?sort=name&order=asc`)
    expect(body).toMatchObject({
      contacts: [
        { name: 'Ann', phone: '+4918' },
        { name: 'DE.2', external_id: 'DE.2' },
      ],
    })
  })

  it('is not of another person who has written in the same delivery', async () => {
    const [ann, bob] = [{ wa_id: '491701', user_id: 'DE.1', profile: { name: 'Ann A' } }, { wa_id: '491702' }]
    const written = (id: string, from: string, fields = {}) => ({ id, from, text: id, fields })
    const hers = written('by Ann', '491701')
    const contacts = [ann]
    await agent.whatsapp(
      { ...hers, value: { contacts } },
      { ...written('by Bob', bob.wa_id), value: { contacts } },
    )
    await stage.pass(2 * second)
    expect(await agent.count('channel_threads')).toBe(2)
    const { body } = await stage.app.call('GET', `${agent.path}/contacts?sort=phone&order=asc`)
    expect(body).toMatchObject({ contacts: [{ name: 'Ann A', phone: '+491701' }, { name: '491702' }] })
  })

  it('that is not whole keeps none of its delivery from being read', async () => {
    const good = (n: number) => ({
      id: `several${n}`,
      from: '4917',
      text: `line ${n}`,
      timestamp: 1_790_000_000 + n,
    })
    const bad = [null, 7, 'x', [], { id: 'z' }, { from: { a: 1 }, text: 5 }]
    const wrong = { ...good(9), value: { messages: bad } }
    await agent.whatsapp(good(1), wrong, { ...good(8), value: { messages: null } }, good(2))
    await stage.pass(2 * second)
    expect((await talk('whatsapp'))[0]).toEqual(['user', 'line 1\nline 2'])
  })

  it('to another number of the same account is not for the agent', async () => {
    await agent.set({ whatsapp_phone_number_id: '555' })
    expect(await agent.whatsapp({ id: 'other', from: '49', text: 'Hello' })).toMatchObject({ status: 200 })
    expect(await agent.count('channel_updates')).toBe(0)
  })
})

describe('strangers', () => {
  it('are ignored by default', async () => {
    await agent.set({ channel_senders: null })
    await agent.telegram({ chat, username: 'eve', text: 'Hello' })
    await stage.pass(2 * second)
    expect([saidOnTelegram(), await talk(), await agent.count('contacts')]).toEqual([[], [], 0])
    expect(await agent.count('channel_updates')).toBe(0)
  })

  it('become contacts where everyone may write', async () => {
    await agent.telegram({ chat, name: 'Eve', username: 'eve', text: 'Hello' })
    await agent.whatsapp({ id: 'w', from: '491705559', name: 'Otto', text: 'Hallo' })
    await stage.pass(2 * second)
    const { body } = await stage.app.call('GET', `${agent.path}/contacts?sort=name&order=asc`)
    expect(body).toMatchObject({
      contacts: [
        { name: 'Eve', messenger_handle: 'eve' },
        { name: 'Otto', messenger_number: '+491705559', phone: '+491705559' },
      ],
    })
    await agent.telegram({ chat, name: 'Eve', username: 'renamed', text: 'Again' })
    await stage.pass(2 * second)
    expect(await agent.count('contacts')).toBe(2)
    expect(await talk()).toHaveLength(4)
  })

  it('are those whose contact was deleted, until they are known again', async () => {
    await agent.telegram({ chat, username: 'eve', text: 'Hello' })
    await stage.pass(2 * second)
    await agent.set({ channel_senders: 'contacts' })
    await stage.app.call('POST', `${agent.path}/sql/execute`, { body: { query: 'delete from contacts' } })
    await agent.telegram({ chat, username: 'eve', text: 'Are you there?' })
    await stage.pass(2 * second)
    expect(saidOnTelegram()).toHaveLength(1)
    await stage.app.call('POST', `${agent.path}/contacts`, { body: { name: 'Eve', messenger_handle: 'eve' } })
    await agent.telegram({ chat, username: 'eve', text: 'And now?' })
    await stage.pass(2 * second)
    expect((await talk()).filter(([role]) => role === 'user').map(([, text]) => text)).toEqual([
      'Hello',
      'And now?',
    ])
  })
})

describe('messages', () => {
  it('that come again are answered once, also after days and beside others', async () => {
    const written = { update: 900, chat, text: 'Hello' }
    for (let n = 0; n < 3; n += 1) await agent.telegram(written)
    await stage.pass(2 * second)
    await stage.pass(3 * 24 * 60 * minute)
    await agent.telegram(written)
    const again = { id: 'wamid.B', from: '4917', text: 'Hallo' }
    await agent.whatsapp(again, again, { ...again, id: 'wamid.C', text: 'Noch etwas' })
    await agent.whatsapp(again)
    await stage.pass(2 * second)
    expect(saidOnTelegram()).toHaveLength(1)
    expect((await talk('whatsapp')).map(([, text]) => text)).toEqual(['Hallo\nNoch etwas', usualAnswer])
  })

  it('with the number of one to a former bot are new', async () => {
    await agent.telegram({ update: 500, chat, text: 'To the first bot' })
    await stage.pass(2 * second)
    const token = '4242:AAE-other'
    await agent.set({ telegram_bot_token: token })
    expect(await agent.telegram({ update: 500, chat, text: 'With the secret of the first' })).toMatchObject({
      status: 401,
    })
    await stage.app.call('POST', `${agent.path}/channels/telegram/connect`)
    const secret = stage.telegram.webhook()?.secret_token ?? ''
    await agent.telegram({ update: 500, chat, text: 'To the second bot' }, secret)
    await stage.pass(2 * second)
    expect(await talk()).toHaveLength(4)
  })

  it('within two seconds are answered together, in the order in which they were written', async () => {
    await agent.telegram({ chat, message: 1, text: 'one' })
    await stage.pass(1 * second)
    await agent.telegram({ chat, message: 3, text: 'three' })
    await agent.telegram({ chat, message: 2, text: 'two' })
    expect(saidOnTelegram()).toEqual([])
    await stage.pass(1 * second)
    expect(await talk()).toEqual([
      ['user', 'one\ntwo\nthree'],
      ['assistant', usualAnswer],
    ])
    expect(saidOnTelegram()).toEqual([usualAnswer])
  })

  it('that come during an answer are answered after it, together', async () => {
    const held = heldStream(['First '], ['answer'])
    stage.model.next(held.reply)
    await agent.telegram({ chat, message: 1, text: 'one' })
    const passed = stage.pass(2 * second)
    await held.begun
    await agent.telegram({ chat, message: 2, text: 'two' })
    await agent.telegram({ chat, message: 3, text: 'three' })
    stage.clock.advance(3 * second)
    expect(saidOnTelegram()).toEqual([])
    held.open()
    await passed
    await stage.pass(0)
    expect((await talk()).map(([, text]) => text)).toEqual(['one', 'First answer', 'two\nthree', usualAnswer])
    expect(saidOnTelegram()).toEqual(['First answer', usualAnswer])
  })

  it('beyond 20 a minute are not read, of which the person is told once', async () => {
    for (let n = 1; n <= 30; n += 1) await agent.telegram({ chat, message: n, text: `line ${n}` })
    await agent.telegram({ chat: 78, name: 'Bob', text: 'Slowly' })
    await stage.pass(2 * second)
    const lines = Array.from({ length: 20 }, (_, n) => `line ${n + 1}`)
    expect((await agent.conversations('telegram')).map(({ messageCount }) => messageCount)).toEqual([2, 2])
    const notice = expect.stringMatching(/^Hello from the model\.\n\n.*20 messages a minute/)
    expect(saidOnTelegram()).toEqual([notice])
    expect(saidOnTelegram(78)).toEqual([usualAnswer])
    expect(JSON.stringify(stage.model.questions().slice(-2))).toContain(
      lines.join('\\\\n').replaceAll('\\\\', '\\'),
    )
    await stage.pass(minute)
    await agent.telegram({ chat, message: 31, text: 'Sorry' })
    await stage.pass(2 * second)
    expect(saidOnTelegram()).toEqual([notice, usualAnswer])
  })

  it('to a paused agent are kept, and answered when it is active again', async () => {
    const setStatus = (status: string) => stage.app.call('PUT', agent.path, { body: { status } })
    await setStatus('paused')
    await agent.telegram({ chat, message: 1, text: 'Are you there?' })
    await stage.pass(2 * second)
    await stage.pass(2 * minute)
    await agent.telegram({ chat, message: 2, text: 'Hello?' })
    await stage.pass(2 * second)
    expect([saidOnTelegram(), await talk()]).toEqual([[], []])
    await setStatus('active')
    await stage.pass(0)
    expect((await talk()).map(([, text]) => text)).toEqual(['Are you there?\nHello?', usualAnswer])
  })

  it('wait for a model that the owner has to choose first', async () => {
    await agent.set({ llm_provider: 'openai', llm_model: 'gpt-x' })
    await agent.telegram({ chat, text: 'Hello' })
    await stage.pass(2 * second)
    expect(saidOnTelegram()).toEqual([])
    await agent.set({ llm_provider: null, llm_model: null })
    await stage.pass(0)
    expect(saidOnTelegram()).toEqual([usualAnswer])
  })

  it('wait for such a model no longer than three days', async () => {
    await agent.set({ llm_provider: 'openai', llm_model: 'gpt-x' })
    await agent.telegram({ chat, text: 'Hello' })
    await stage.pass(2 * second)
    for (let hour = 0; hour < 71; hour += 1) await stage.pass(60 * minute)
    expect(saidOnTelegram()).toEqual([])
    for (let day = 0; day < 4; day += 1) await stage.pass(24 * 60 * minute)
    expect(saidOnTelegram()).toEqual([expect.stringContaining('Sorry')])
  })

  it('are not answered in a conversation in use, but right after', async () => {
    await agent.telegram({ chat, text: 'Hello' })
    await stage.pass(2 * second)
    const [conversation] = await agent.conversations('telegram')
    const held = heldStream(['To the owner'])
    stage.model.next(held.reply)
    const body = { content: 'What did they want?', conversationId: conversation?.id }
    const owner = stage.app.call('POST', `${agent.path}/chat`, { body })
    await held.begun
    await agent.telegram({ chat, text: 'Still there?' })
    await stage.pass(2 * second)
    held.open()
    expect(await owner).toMatchObject({ status: 200 })
    await stage.pass(2 * second)
    expect((await talk()).map(([, text]) => text).slice(2)).toEqual([
      'What did they want?',
      'To the owner',
      'Still there?',
      usualAnswer,
    ])
    expect(saidOnTelegram()).toEqual([usualAnswer, usualAnswer])
  })
})

describe('an edited message', () => {
  const edit = (message: number, text: string, update?: number) =>
    agent.telegram({ chat, message, text, isEdit: true, ...(update && { update }) })
  const said = async () => {
    const [conversation] = await agent.conversations('telegram')
    return (await agent.messages(conversation?.id ?? '')).map(({ content, metadata }) => [
      content,
      metadata?.edited,
    ])
  }

  it('is answered as it is, if its answer has not begun', async () => {
    await agent.telegram({ chat, message: 1, text: 'one' })
    await agent.telegram({ chat, message: 2, text: 'tow' })
    await edit(2, 'two')
    await stage.pass(2 * second)
    expect(await said()).toEqual([
      ['one\ntwo', undefined],
      [usualAnswer, undefined],
    ])
  })

  it('changes in its conversation while and after it is answered, and is not answered again', async () => {
    const held = heldStream(['The ', 'answer'])
    stage.model.next(held.reply)
    await agent.telegram({ chat, message: 1, text: 'one' })
    await agent.telegram({ chat, message: 2, text: 'tow' })
    const passed = stage.pass(2 * second)
    await held.begun
    await edit(2, 'two')
    expect((await said())[0]).toEqual(['one\ntwo', expect.any(String)])
    held.open()
    await passed
    await edit(1, 'ONE', 555)
    await edit(1, 'ONE', 555)
    await stage.pass(minute)
    expect(await said()).toEqual([
      ['ONE\ntwo', expect.stringMatching(/^\d{4}-.*Z$/)],
      [expect.stringContaining('answer'), undefined],
    ])
    expect(saidOnTelegram()).toHaveLength(1)
  })

  it('counts as no message of a minute', async () => {
    await agent.telegram({ chat, message: 1, text: 'one' })
    for (let n = 1; n <= 25; n += 1) await edit(1, `one ${n}`)
    await agent.telegram({ chat, message: 2, text: 'two' })
    await stage.pass(2 * second)
    expect((await said())[0]).toEqual(['one 25\ntwo', undefined])
  })

  it('that is not known is not read', async () => {
    await edit(5, 'Hello')
    await agent.telegram({ chat, message: 6, text: 'Hi' })
    await stage.pass(2 * second)
    await edit(5, 'Hello')
    await stage.pass(2 * second)
    expect((await said()).map(([text]) => text)).toEqual(['Hi', usualAnswer])
  })
})

describe('an answer', () => {
  const paragraphs = ['a', 'b', 'c'].map(letter => letter.repeat(3_000))
  const long = { stream: openaiText(paragraphs.join('\n\n')) }

  it('of several parts goes on after a failure where it stopped', async () => {
    stage.model.next(long)
    await agent.telegram({ chat, text: 'Tell me all' })
    const refuse = () => stage.telegram.next(telegramRefusal(429, 'Too Many Requests', { retry_after: 7 }))
    stage.telegram.next({ json: { ok: true, result: { message_id: 5 } } })
    refuse()
    await stage.pass(2 * second)
    expect(saidOnTelegram()).toEqual(paragraphs.slice(0, 2))
    await stage.pass(6 * second)
    expect(saidOnTelegram()).toHaveLength(2)
    await stage.pass(2 * second)
    expect(saidOnTelegram()).toEqual([paragraphs[0], paragraphs[1], paragraphs[1], paragraphs[2]])
    expect(await talk()).toHaveLength(2)
  })

  it.each(['broke off', 'was cut off by a crash'])(
    'that %s midway is given anew, and only then sent',
    async what => {
      const half = openaiText('Half an ans').slice(0, 1)
      stage.model.next({ stream: half, cut: true })
      await agent.telegram({ chat, text: 'Hello' })
      await stage.pass(2 * second)
      expect(await talk()).toEqual([
        ['user', 'Hello'],
        ['assistant', 'Half an ans'],
      ])
      if (what.endsWith('crash'))
        await stage.app.service.infrastructure.agentDatabases.use(agent.id, ({ db }) =>
          db
            .updateTable('messages')
            .set({ metadata: '{"aborted":true}' })
            .where('role', '=', 'assistant')
            .execute(),
        )
      expect(saidOnTelegram()).toEqual([])
      await stage.pass(2 * second)
      expect(await talk()).toEqual([
        ['user', 'Hello'],
        ['assistant', usualAnswer],
      ])
      expect(saidOnTelegram()).toEqual([usualAnswer])
    },
  )

  it('that comes late undoes nothing of what was said meanwhile', async () => {
    stage.model.next(...Array(4).fill({ status: 500, text: 'Trouble' }))
    await agent.telegram({ chat, text: 'Hello' })
    await stage.pass(2 * second)
    const [conversation] = await agent.conversations('telegram')
    const body = { content: 'What did they want?', conversationId: conversation?.id }
    await stage.app.call('POST', `${agent.path}/chat`, { body })
    await stage.pass(2 * minute)
    expect((await talk()).map(([, text]) => text)).toEqual([
      ...['What did they want?', usualAnswer],
      ...['Hello', usualAnswer],
    ])
    expect(saidOnTelegram()).toEqual([usualAnswer])
  })

  it('that the messenger will never take is not tried again, and later ones are', async () => {
    stage.telegram.next(...Array(2).fill(telegramRefusal(403, 'Forbidden: bot was blocked by the user')))
    await agent.telegram({ chat, text: 'Hello' })
    await stage.pass(2 * second)
    await stage.pass(24 * 60 * minute)
    const tries = saidOnTelegram().length
    expect(await talk()).toHaveLength(2)
    await agent.telegram({ chat, text: 'Back again' })
    await stage.pass(2 * second)
    expect(saidOnTelegram()).toHaveLength(tries + 1)
    expect(saidOnTelegram().at(-1)).toBe(usualAnswer)
  })

  it('that cannot be sent is tried for more than an hour, and later ones are sent', async () => {
    stage.telegram.next(...Array(8).fill({ status: 502, text: 'Bad Gateway' }))
    await agent.telegram({ chat, text: 'Hello' })
    await stage.pass(2 * second)
    let pause = second
    for (let tries = 1; tries < 8; tries += 1) {
      expect(saidOnTelegram()).toEqual(Array(tries).fill(usualAnswer))
      await stage.pass(1.3 * pause)
      pause *= 4
    }
    expect(saidOnTelegram()).toEqual([...Array(8).fill(usualAnswer), expect.stringContaining('Sorry')])
    await agent.telegram({ chat, text: 'Back again' })
    await stage.pass(2 * second)
    expect(saidOnTelegram().at(-1)).toBe(usualAnswer)
    expect(await talk()).toHaveLength(4)
  })

  it('that no model can give becomes an apology, and the question stays', async () => {
    stage.model.next(...Array(4).fill({ status: 401, json: { error: { message: 'Incorrect API key' } } }))
    await agent.telegram({ chat, text: 'Hello' })
    await stage.pass(2 * second)
    expect(saidOnTelegram()).toEqual([expect.stringContaining('Sorry')])
    expect(await talk()).toEqual([['user', 'Hello']])
  })
})

it('conversations on channels are at most 1,000, and stand beside those held here', async () => {
  const at = (n: number) => new Date(Date.parse('2025-01-01') + n).toISOString()
  const rows = Array.from({ length: 1050 }, (_, n) => ({
    ...{ id: `c${n}`, title: 'Talk', channel: n < 50 ? null : 'whatsapp', lock_token: 0 },
    ...{ message_count: 1, created_at: at(n), last_message_at: at(n), created_by: 'person:dev@example.com' },
  }))
  await stage.app.service.infrastructure.agentDatabases.use(agent.id, ({ db }) =>
    db.insertInto('conversations').values(rows).execute(),
  )
  await using receiver = await startWebhookReceiver(() => ({ status: 200 }))
  await stage.app.call('POST', `${agent.path}/webhooks`, {
    body: { url: receiver.url, events: ['conversation.evicted'] },
  })
  await agent.telegram({ chat, text: 'Hello' })
  await stage.pass(2 * second)
  await stage.pass(second)
  expect(receiver.received.map(({ body }) => JSON.parse(body).data)).toMatchObject([
    { conversation_id: 'c50', channel: 'whatsapp' },
  ])
  const total = async (query: string) => {
    const list = `${agent.path}/chat/conversations?limit=1000${query}`
    const { body } = await stage.app.call<ConversationList>('GET', list)
    return { total: body.meta.total, ids: body.conversations.map(({ id }) => id) }
  }
  expect(await total('')).toMatchObject({ total: 50 })
  expect(await total('&channel=telegram')).toMatchObject({ total: 1 })
  const { ids, ...rest } = await total('&channel=whatsapp')
  expect([rest.total, ids.at(-1)]).toEqual([999, 'c51'])
  await stage.app.call('POST', `${agent.path}/chat/conversations`, { body: { title: 'One more' } })
  expect((await total('')).ids).toContain('c1')
  expect((await total('')).ids).not.toContain('c0')
  expect(await total('&channel=whatsapp')).toMatchObject({ total: 999 })
})

it('two contacts that become one keep both threads, and are written to where they wrote last', async () => {
  await agent.telegram({ chat, username: 'ann', text: 'Hello' })
  await agent.whatsapp({ id: 'w', from: '4917', text: 'Hallo' })
  await stage.pass(2 * second)
  const { body } = await stage.app.call<{ contacts: { id: string }[] }>('GET', `${agent.path}/contacts`)
  const [into, from] = body.contacts
  await stage.app.call('POST', `${agent.path}/contacts/${into?.id}/merge`, { body: { from: from?.id } })
  const threads = await stage.app.call('POST', `${agent.path}/sql/execute`, {
    body: { query: 'select distinct contact_id from channel_threads' },
  })
  expect(threads.body).toMatchObject({ rows: [[into?.id]] })
  const { agentDatabases, configuration, outbound } = stage.app.service.infrastructure
  const settings = { profileOf: () => Promise.reject(new Error('not needed')) }
  const { telegramChatOf } = createChannelsService({ ...configuration, outbound, settings })
  await agent.telegram({ chat: 78, username: 'ann', text: 'From another account' })
  const chatOf = (id = '') => agentDatabases.use(agent.id, handle => telegramChatOf(handle, id))
  expect([await chatOf(into?.id), await chatOf(from?.id)]).toEqual(['78', undefined])
})
