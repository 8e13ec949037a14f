import { createHash } from 'node:crypto'
import { domainToASCII } from 'node:url'
import type { SMTPTransportOptions } from 'nodemailer/lib/smtp-transport'
import { AppError, invalid } from '#platform/errors.ts'
import { orAborted } from '#platform/or-aborted.ts'
import { createSecretFilter } from '#platform/outbound/hide-secrets.ts'
import type { Outbound } from '#platform/outbound/outbound.ts'
import { toOutboundError } from '#platform/outbound/outbound-failure.ts'
import { readSmtpUrl } from '#platform/smtp-url.ts'
import type { Delivery } from './call-api.ts'

/** Each text contains one address or several, separated by commas, unless it is single. */
type Addresses = string | readonly (string | SingleAddress)[]

/** At most one address, because others have written some of it. */
interface SingleAddress {
  single: string
}

export interface Mail {
  to: Addresses
  subject: string
  body: string
  html?: string
  cc?: Addresses
  bcc?: Addresses
  reply_to?: Addresses
}

export interface MailServer {
  url: string
  from: string
  /** The guard's connection to a server that the operator has not chosen. */
  connect?: Outbound['connect']
}

/** The fields of a failure in nodemailer. */
interface SmtpFailure extends Error {
  code?: string
  /** The connection's code, before nodemailer replaced it. */
  originalCode?: string
  response?: string
  responseCode?: number
}

/** Excludes domain literals, quoted names and characters with a meaning in SMTP or in a header. */
const strictAddress = /^[^\s\p{Cc}@<>()[\],:;\\"]+@[^\s\p{Cc}@<>()[\],:;\\"]+$/u

const maxRecipients = 50
/** Max characters of a single address with its name. */
const maxSingleLength = 1_000

const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 }
const timeoutMs = 120_000

/**
 * Sends a mail over its own connection. Recipients that the server rejects are no error if it accepts others.
 * Line breaks in the subject become blanks: it is one header, and errors in it can have several lines.
 */
export async function sendMail(server: MailServer, mail: Mail, { key, signal }: Delivery) {
  const { createTransport } = await import('nodemailer')
  const message = await messageOf(server.from, mail, key)
  const login = readSmtpUrl(server.url)
  const { host, port, secure, auth } = login
  const options: SMTPTransportOptions = {
    ...login,
    ...timeouts,
    disableFileAccess: true,
    disableUrlAccess: true,
    getSocket(_options, callback) {
      if (server.connect === undefined) return callback(null, false)
      const needsTls = auth !== undefined && !secure
      server.connect(host, port).then(
        ({ socket, isAllowed }) => callback(null, { connection: socket, requireTLS: needsTls && !isAllowed }),
        error => callback(error),
      )
    },
  }
  const limited = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  try {
    const beyondAscii = addressesOf(message).find(needsUtf8)
    if (beyondAscii !== undefined && !(await offersUtf8(options, limited)))
      throw notSent(
        `${host} takes no addresses beyond ASCII (it does not offer SMTPUTF8), such as ${beyondAscii}.`,
        true,
      )
    const { messageId, accepted, rejected } = await createTransport(options).sendMail({
      ...message,
      signal: limited,
    })
    return { message_id: messageId, accepted, rejected }
  } catch (error) {
    signal.throwIfAborted()
    throw failureOf(error as SmtpFailure, login)
  }
}

/** Returns nodemailer's message, without line breaks that would make further addresses or headers. */
async function messageOf(from: string, mail: Mail, key: string) {
  const { default: parse } = await import('nodemailer/lib/addressparser')
  const readOne = (field: string, entry: string | SingleAddress) => {
    const isSingle = typeof entry !== 'string'
    const text = onOneLine(field, isSingle ? entry.single : entry)
    if (isSingle && text.length > maxSingleLength) throw severalAddresses(field)
    const addresses = parse(text, { flatten: true })
    if (isSingle && addresses.length > 1) throw severalAddresses(field)
    const isWrong = ({ name, address }: { name: string; address: string }) =>
      !strictAddress.test(address) || (name !== '' && !text.includes(`<${address}>`))
    const wrong = addresses.find(isWrong)
    if (wrong) throw invalid(field, `"${wrong.address || wrong.name}" is no e-mail address`)
    return addresses
  }
  const read = (field: string, givenAddresses: Addresses = []) =>
    [givenAddresses].flat().flatMap(entry => readOne(field, entry))
  for (const field of ['body', 'html'] as const)
    if (typeof (mail[field] ?? '') !== 'string') throw invalid(field, 'must be a text')
  const [sender, ...others] = read('mail_from', from)
  if (sender === undefined || others.length > 0) throw invalid('mail_from', 'must be one address')
  const to = read('to', mail.to)
  if (to.length === 0) throw invalid('to', 'must name a recipient')
  const [cc, bcc] = [read('cc', mail.cc), read('bcc', mail.bcc)]
  const recipients = to.length + cc.length + bcc.length
  if (recipients > maxRecipients)
    throw invalid('to', `names ${recipients} recipients with cc and bcc; a mail has at most ${maxRecipients}`)
  return {
    from: sender,
    to,
    cc,
    bcc,
    replyTo: read('reply_to', mail.reply_to),
    subject: mail.subject.replace(/\s*[\p{Cc}\u2028\u2029]+\s*/gu, ' ').trim(),
    text: mail.body,
    html: mail.html,
    messageId: `<${createHash('sha256').update(key).digest('hex')}@${asciiDomainOf(sender.address)}>`,
  }
}

type Message = Awaited<ReturnType<typeof messageOf>>

function addressesOf({ from, to, cc, bcc, replyTo }: Message): string[] {
  return [from, ...to, ...cc, ...bcc, ...replyTo].map(({ address }) => address)
}

/** Returns false for a local part in ASCII: a domain is sent in its ASCII form. */
function needsUtf8(address: string): boolean {
  return /[^\p{ASCII}]/u.test(address.split('@')[0] ?? '') || asciiDomainOf(address) === ''
}

function asciiDomainOf(address: string): string {
  return domainToASCII(address.split('@')[1] ?? '')
}

/** Checks the server's offers, because the library hides these and would send such addresses anyway. */
async function offersUtf8(options: SMTPTransportOptions, signal: AbortSignal): Promise<boolean> {
  const { default: SMTPConnection } = await import('nodemailer/lib/smtp-connection')
  const socket = await new Promise<object>((resolve, reject) =>
    options.getSocket?.(options, (error, given) => (error ? reject(error) : resolve(given || {}))),
  )
  const connection = new SMTPConnection({ ...options, ...socket })
  try {
    const connected = new Promise((resolve, reject) => {
      connection.once('error', reject).connect(error => (error ? reject(error) : resolve(undefined)))
    })
    await orAborted(connected, signal)
    return /[ -]SMTPUTF8\b/i.test(connection.lastServerResponse || '')
  } finally {
    connection.close()
  }
}

function severalAddresses(field: string): AppError {
  const issue = 'what a template puts in must be one address; write lists into the workflow itself'
  return invalid(field, issue)
}

function onOneLine(field: string, value: string): string {
  const isOneLine = !/[^\P{Cc}\t]/u.test(value)
  if (!isOneLine) throw invalid(field, 'must not hold line breaks, since it is sent in a header')
  return value
}

/** Hides the login, which a server's answer can repeat; an AppError is the guard's refusal. */
function failureOf(
  failure: SmtpFailure | AppError,
  { host, auth }: ReturnType<typeof readSmtpUrl>,
): AppError {
  if (failure instanceof AppError) return notSent(failure.message, failure.isPermanent)
  const { code, originalCode, message, response, responseCode = 0 } = failure
  const hide = createSecretFilter(auth ? [auth.pass, `\0${auth.user}\0${auth.pass}`] : [])
  const connection = () =>
    toOutboundError(Object.assign(new Error(message), { code: originalCode ?? code }), host)
  const noTls = `${host} offers no encryption (STARTTLS), without which its login is not sent.`
  const answer = response === undefined ? connection().message : `${host} answered: ${hide(response)}`
  return notSent(code === 'ETLS' ? noTls : answer, responseCode >= 500)
}

function notSent(reason: string, isPermanent: boolean): AppError {
  return new AppError('CHANNEL_FAILED', `The mail was not sent. ${reason}`, { isPermanent })
}
