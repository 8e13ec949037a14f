import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import tls from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Resolve } from '#platform/outbound/guarded-resolver.ts'
import { createOutbound } from '#platform/outbound/outbound.ts'
import { makeCertificate } from '#test/support/certificate.ts'
import { readMail, startMailServer } from '#test/support/mail-server.ts'
import { type Mail, sendMail } from './mail.ts'

const from = 'Agent Ölaf <agent@example.com>'
const mail = { to: 'ann@example.com', subject: 'Hello', body: 'How are you?' }
const delivery = { key: 'execution:node', signal: new AbortController().signal }

/** A mail server that an agent has chosen, by its name. */
function foreign(
  url: string,
  { allow = [], addresses = ['127.0.0.1'] }: { allow?: string[]; addresses?: string[] } = {},
) {
  const left = [...addresses]
  const resolve: Resolve = async () => [
    { address: (left.length > 1 && left.shift()) || left[0] || '', family: 4 },
  ]
  const outbound = createOutbound({ allow, userAgent: 'test', resolve })
  onTestFinished(() => outbound.close())
  return { url, from, connect: outbound.connect }
}

async function failureOf(server: Parameters<typeof sendMail>[0], changes: Partial<Mail> = {}) {
  return await sendMail(server, { ...mail, ...changes }, delivery).then(
    () => undefined,
    error => error,
  )
}

describe('a mail', () => {
  it('arrives with Unicode, long lines and lines of a single dot as they were written', async () => {
    await using server = await startMailServer()
    const body = `Grüße 👋\n.\n..\nFrom here on\n${'länger '.repeat(2000)}\n${'x'.repeat(5000)}\nEnde`
    const subject = `${'Ein längerer Betreff 📬 '.repeat(20)}Ende`
    await sendMail({ url: server.url, from }, { ...mail, subject, body }, delivery)
    const [received] = server.mails
    const { headers, text } = readMail(received?.raw ?? '')
    expect(text.trimEnd().replaceAll('\r\n', '\n')).toBe(body)
    expect(headers).toMatchObject({ subject, from, to: 'ann@example.com' })
    expect(received?.raw.split('\r\n').filter(line => line.length > 998)).toEqual([])
  })

  it('goes to lists of addresses as given, and shows nobody the hidden ones', async () => {
    await using server = await startMailServer()
    const sent = await sendMail(
      { url: server.url, from },
      {
        ...mail,
        to: ['"Doe, Jane" <jane@example.com>, bob@example.com', 'Zoë <zoe@example.com>'],
        cc: 'carl@example.com',
        bcc: ['dora@example.com'],
        reply_to: 'office@example.com',
        html: '<p>Hello</p>',
      },
      delivery,
    )
    const all = ['jane', 'bob', 'zoe', 'carl', 'dora'].map(name => `${name}@example.com`)
    expect(sent).toMatchObject({ accepted: all, rejected: [] })
    expect(server.mails[0]).toMatchObject({ from: 'agent@example.com', to: all })
    const raw = server.mails[0]?.raw ?? ''
    expect(readMail(raw).headers).toMatchObject({
      to: '"Doe, Jane" <jane@example.com>, bob@example.com, Zoë <zoe@example.com>',
      cc: 'carl@example.com',
      'reply-to': 'office@example.com',
      'content-type': expect.stringContaining('multipart/alternative'),
    })
    expect(raw).not.toContain('dora')
    expect(raw).toContain('<p>Hello</p>')
  })

  it('has the same Message-ID when it is sent again, and another one with another key', async () => {
    await using server = await startMailServer()
    const own = { url: server.url, from }
    const sent = [
      await sendMail(own, mail, delivery),
      await sendMail(own, mail, delivery),
      await sendMail(own, mail, { ...delivery, key: 'other' }),
    ].map(({ message_id }) => message_id)
    expect(sent[0]).toMatch(/^<[\da-f]{64}@example\.com>$/)
    expect(sent[1]).toBe(sent[0])
    expect(sent[2]).not.toBe(sent[0])
    expect(server.mails.map(({ raw }) => readMail(raw).headers['message-id'])).toEqual(sent)
  })

  it('reads no file and no address that a template may have put in place of a text', async () => {
    await using server = await startMailServer()
    const texts = [{ path: '/etc/hostname' }, { href: server.url.replace('smtp', 'http') }]
    for (const text of texts as unknown as string[])
      expect(await failureOf({ url: server.url, from }, { body: text })).toMatchObject({
        code: 'VALIDATION_ERROR',
      })
    expect(server.mails).toEqual([])
  })
})

describe('what the server answers', () => {
  it.each([
    [421, false],
    [451, false],
    [452, false],
    [550, true],
    [552, true],
    [554, true],
  ])('a %i for the mail is permanent: %s', async (status, isPermanent) => {
    await using server = await startMailServer()
    server.refuse(status)
    expect(await failureOf({ url: server.url, from })).toMatchObject({
      code: 'CHANNEL_FAILED',
      isPermanent,
      message: expect.stringContaining(`127.0.0.1 answered: ${status}`),
    })
  })

  it.each([
    [['450-a@example.com'], false],
    [['550-a@example.com'], true],
    [['450-a@example.com', '550-b@example.com'], false],
  ])('no recipient of %j accepted is permanent: %s', async (to, isPermanent) => {
    await using server = await startMailServer()
    expect(await failureOf({ url: server.url, from }, { to })).toMatchObject({ isPermanent })
    expect(server.mails).toEqual([])
  })

  it('some recipients rejected is no failure', async () => {
    await using server = await startMailServer()
    const to = ['550-a@example.com', 'ann@example.com']
    expect(await sendMail({ url: server.url, from }, { ...mail, to }, delivery)).toMatchObject({
      accepted: ['ann@example.com'],
      rejected: ['550-a@example.com'],
    })
  })

  it('no connection may pass', async () => {
    expect(await failureOf({ url: 'smtp://127.0.0.1:1', from })).toMatchObject({
      code: 'CHANNEL_FAILED',
      isPermanent: false,
      message: expect.stringContaining('it refused the connection'),
    })
  })

  it('a wrong password is permanent, and shown by no error', async () => {
    const password = 'pa ss:wörd'
    const pair = Buffer.from(`\0agent\0${password}`).toString('base64')
    await using server = await startMailServer({
      authMethods: ['PLAIN'],
      onAuth: (_auth, _session, callback) =>
        callback(Object.assign(new Error(`no ${password} or ${pair}`), { responseCode: 535 })),
    })
    const url = server.url.replace('//', `//agent:${encodeURIComponent(password)}@`)
    const failure = await failureOf({ url, from })
    expect(failure).toMatchObject({ isPermanent: true, message: expect.stringContaining('535') })
    const shown = `${failure.stack} ${JSON.stringify(failure)} ${failure.cause}`
    for (const secret of [password, pair, encodeURIComponent(password)]) expect(shown).not.toContain(secret)
  })

  it('the signal of the caller ends it with its own reason', async () => {
    const stop = new AbortController()
    const reason = new Error('stopped')
    await using server = await startMailServer({ onConnect: () => stop.abort(reason) })
    const sent = sendMail({ url: server.url, from }, mail, { ...delivery, signal: stop.signal })
    await expect(sent).rejects.toBe(reason)
  })
})

describe('a line break', () => {
  const injected = [
    'x@example.com\r\nRCPT TO:<eve@example.com>',
    'x@example.com\nBcc: eve@example.com',
    'x\r',
  ]

  it.each(['to', 'cc', 'bcc', 'reply_to'])('in %s is refused before a connection', async field => {
    await using server = await startMailServer()
    for (const value of injected) {
      const failure = { code: 'VALIDATION_ERROR', isPermanent: true, details: { field } }
      expect(await failureOf({ url: server.url, from }, { [field]: value })).toMatchObject(failure)
    }
    expect(server.connections()).toBe(0)
  })

  it.each([
    ['Failed: one\ntwo', 'Failed: one two'],
    ['Order 5\r\n', 'Order 5'],
    ['\n\n  a\r\n\tb \u2028 c\u0085d\ve\n', 'a b c d e'],
    ['x@example.com\nBcc: eve@example.com', 'x@example.com Bcc: eve@example.com'],
    [`${'long '.repeat(60)}\nend`, `${'long '.repeat(60)}end`],
    ['two  blanks stay', 'two  blanks stay'],
  ])('in the subject %j becomes a blank', async (subject, expected) => {
    await using server = await startMailServer()
    await sendMail({ url: server.url, from }, { ...mail, subject }, delivery)
    expect(server.mails[0]?.to).toEqual(['ann@example.com'])
    const { headers } = readMail(server.mails[0]?.raw ?? '')
    expect([headers.subject, headers.bcc]).toEqual([expected, undefined])
  })

  it('in the sender is refused before a connection', async () => {
    await using server = await startMailServer()
    for (const value of injected)
      expect(await failureOf({ url: server.url, from: value })).toMatchObject({ code: 'VALIDATION_ERROR' })
    expect(server.connections()).toBe(0)
  })
})

it.each([
  '',
  ' , ',
  'ann',
  'ann@',
  '@example.com',
  'a b@example.com',
  'ann@example.com bob@example.com',
  '"ann> RCPT TO:<eve@example.com"@example.com',
  'ann@[127.0.0.1]',
  'ann@example.com\u0000',
  'ann@example.com, nobody',
])('%j is no recipient', async to => {
  await using server = await startMailServer()
  const failure = { code: 'VALIDATION_ERROR', details: { field: 'to' } }
  expect(await failureOf({ url: server.url, from }, { to })).toMatchObject(failure)
  expect(server.connections()).toBe(0)
})

describe('addresses beyond ASCII', () => {
  const places: [field: string, change: Partial<Mail>, sender?: string][] = [
    ['to', { to: 'jürgen@example.com' }],
    ['to', { to: ['ann@example.com', 'Ann <δοκιμή@example.com>'] }],
    ['cc', { cc: '用户@example.com' }],
    ['bcc', { bcc: 'josé@bücher.example' }],
    ['reply_to', { reply_to: 'søren@example.com' }],
    ['mail_from', {}, 'Zoë <zoë@example.com>'],
  ]

  it.each(places)('in %s are given to no server without SMTPUTF8: %j', async (_, change, sender = from) => {
    await using server = await startMailServer({ hideSMTPUTF8: true })
    expect(await failureOf({ url: server.url, from: sender }, change)).toMatchObject({
      code: 'CHANNEL_FAILED',
      isPermanent: true,
      message: expect.stringMatching(/not sent\. 127\.0\.0\.1 takes no addresses beyond ASCII .*SMTPUTF8.*@/),
    })
    expect(server.mails).toEqual([])
  })

  it.each(places)('in %s are given to one with it: %j', async (_, change, sender = from) => {
    await using server = await startMailServer({ hideSMTPUTF8: false })
    await sendMail({ url: server.url, from: sender }, { ...mail, ...change }, delivery)
    expect(server.mails).toHaveLength(1)
  })

  it('only in the domain or the name are sent in ASCII', async () => {
    await using server = await startMailServer({ hideSMTPUTF8: true })
    const sender = 'Zoë <zoe@bücher.example>'
    await sendMail({ url: server.url, from: sender }, { ...mail, to: 'Jürgen <j@köln.example>' }, delivery)
    const raw = server.mails[0]?.raw ?? ''
    expect(raw).toMatch(/^\p{ASCII}*$/u)
    expect(readMail(raw).headers).toMatchObject({
      from: 'Zoë <zoe@xn--bcher-kva.example>',
      to: 'Jürgen <j@xn--kln-sna.example>',
    })
  })
})

describe("an agent's own mail server", () => {
  const host = 'mail.example.com'
  const certificate = makeCertificate(host)
  const login = (port: number, scheme = 'smtp') => `${scheme}://agent:password@${host}:${port}`

  /** Trusted as if an authority had signed it. */
  function trust({ cert }: { cert: string }) {
    const before = tls.getCACertificates('default')
    tls.setDefaultCACertificates([...before, cert])
    onTestFinished(() => tls.setDefaultCACertificates(before))
  }

  it.each([
    ['smtp', false],
    ['smtps', true],
  ])('is logged into by %s over TLS, under its own name', async (scheme, secure) => {
    trust(certificate)
    await using server = await startMailServer({ ...certificate, secure })
    const own = foreign(login(server.port, scheme), { allow: ['127.0.0.0/8'] })
    await sendMail(own, mail, delivery)
    expect(server.mails).toMatchObject([{ login: 'agent:password', isEncrypted: true }])
  })

  it.each([false, true])(
    'is sent nothing if its certificate is of another name (TLS at once: %s)',
    async secure => {
      const other = makeCertificate('other.example.com')
      trust(other)
      await using server = await startMailServer({ ...other, secure })
      const own = foreign(login(server.port, secure ? 'smtps' : 'smtp'), { allow: ['127.0.0.1'] })
      expect(await failureOf(own)).toMatchObject({
        isPermanent: false,
        message: expect.stringContaining('its certificate is not valid'),
      })
      expect(server.mails).toEqual([])
    },
  )

  it('gets the login without TLS only if OUTBOUND_ALLOW names it', async () => {
    await using server = await startMailServer()
    await sendMail(foreign(login(server.port), { allow: [host] }), mail, delivery)
    expect(server.mails).toMatchObject([{ login: 'agent:password', isEncrypted: false }])
    const { connect } = foreign(login(server.port), { allow: [host] })
    const asPublic = async (name: string, port: number) => ({
      ...(await connect(name, port)),
      isAllowed: false,
    })
    const failure = await failureOf({ url: login(server.port), from, connect: asPublic })
    expect(failure).toMatchObject({ isPermanent: true, message: expect.stringContaining('STARTTLS') })
    expect(server.mails).toHaveLength(1)
  })

  it('is refused where the guard refuses its address, also one that changes', async () => {
    const attempted: string[] = []
    const watch = (message: unknown) =>
      (message as { socket: Socket }).socket.on('connectionAttempt', address => attempted.push(address))
    subscribe('net.client.socket', watch)
    onTestFinished(() => {
      unsubscribe('net.client.socket', watch)
    })
    await using server = await startMailServer()
    const url = login(server.port)
    expect(await failureOf(foreign(url))).toMatchObject({ code: 'CHANNEL_FAILED', isPermanent: true })
    expect(attempted).toEqual([])
    const rebinding = foreign(url, { allow: ['127.0.0.1'], addresses: ['127.0.0.1', '127.0.0.2'] })
    await sendMail(rebinding, mail, delivery)
    expect(await failureOf(rebinding)).toMatchObject({ code: 'CHANNEL_FAILED' })
    expect(attempted).toEqual(['127.0.0.1'])
    expect(server.connections()).toBe(1)
  })
})
