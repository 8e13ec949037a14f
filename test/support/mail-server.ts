/** A real mail server on loopback, that records what it is sent. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { unescape as percentDecoded } from 'node:querystring'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export interface ReceivedMail {
  from: string
  to: string[]
  /** Who has logged in, by `user:password`. */
  login: string | undefined
  isEncrypted: boolean
  /** As it came. */
  raw: string
}

export interface MailServer extends AsyncDisposable {
  port: number
  /** Without a login. */
  url: string
  mails: readonly ReceivedMail[]
  /** How many clients have connected so far. */
  connections(): number
  /** Recipients whose address begins with a status get this status; so does every mail from now on, if one is given. */
  refuse(status: number | undefined): void
}

/** Takes any login; offers STARTTLS if it is given a certificate. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = []
  let refusal: number | undefined
  let connections = 0
  const server = new SMTPServer({
    authOptional: true,
    closeTimeout: 100,
    ...(options.cert === undefined && { disabledCommands: ['STARTTLS'], allowInsecureAuth: true }),
    onConnect(_session, callback) {
      connections += 1
      callback()
    },
    onAuth: ({ username, password }, _session, callback) =>
      callback(null, { user: `${username}:${password}` }),
    onRcptTo({ address }, _session, callback) {
      const [status] = /^[45]\d\d(?=-)/.exec(address) ?? []
      callback(status === undefined ? null : failure(Number(status), address))
    },
    onData(stream, session, callback) {
      stream.toArray().then(pieces => {
        if (refusal !== undefined) return callback(failure(refusal, 'not now'))
        const { mailFrom, rcptTo } = session.envelope
        mails.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          login: typeof session.user === 'string' ? session.user : undefined,
          isEncrypted: session.secure,
          raw: Buffer.concat(pieces).toString(),
        })
        callback()
      }, callback)
    },
    ...options,
  })
  server.on('error', () => {})
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.server.address() as AddressInfo
  return {
    port,
    url: `smtp://127.0.0.1:${port}`,
    mails,
    connections: () => connections,
    refuse(status) {
      refusal = status
    },
    [Symbol.asyncDispose]: () => new Promise(resolve => server.close(() => resolve())),
  }
}

function failure(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode })
}

/** The headers of a mail by their names in small letters, and the text of one that has no parts. */
export function readMail(raw: string): { headers: Record<string, string>; text: string } {
  const end = raw.indexOf('\r\n\r\n')
  const lines = raw
    .slice(0, end)
    .replace(/\r\n[ \t]/g, ' ')
    .split('\r\n')
  const headers = Object.fromEntries(
    lines.map(line => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      words(line.slice(line.indexOf(':') + 2)),
    ]),
  )
  const body = raw.slice(end + 4)
  if (headers['content-transfer-encoding'] === 'base64') return { headers, text: fromBase64(body) }
  return { headers, text: fromQuoted(body.replace(/=\r\n/g, '')) }
}

/** Encoded words of RFC 2047. */
function words(value: string): string {
  return value
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([bq])\?(.*?)\?=/gi, (_word, form: string, text: string) =>
      form.toLowerCase() === 'b' ? fromBase64(text) : fromQuoted(text.replaceAll('_', ' ')),
    )
}

function fromBase64(text: string): string {
  return Buffer.from(text, 'base64').toString()
}

function fromQuoted(text: string): string {
  return percentDecoded(text.replaceAll('%', '%25').replace(/=([\dA-F]{2})/g, '%$1'))
}
