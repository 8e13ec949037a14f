import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import { AppError, invalid } from '#platform/errors.ts'
import { requireStorable } from '#platform/http/requests/storable-text.ts'
import type { HookRequest } from '../executions/lifecycle.service.ts'

export type ReadJson = (request: FastifyRequest, text: string) => unknown
type Input = Record<string, unknown>

const decompress = promisify(gunzip)

const maxFields = 2_000

/** Headers with credentials or payments, which a workflow must not read. */
const secretHeaders = ['authorization', 'cookie', 'proxy-authorization', 'payment-signature', 'x-payment']

/** The request as templates read it. @param gatewayHeader carries the identity gateway's token */
export function triggerOfRequest(
  { method, query, headers }: Pick<FastifyRequest, 'method' | 'query' | 'headers'>,
  gatewayHeader = '',
): HookRequest {
  const secret = [...secretHeaders, gatewayHeader.toLowerCase()]
  const shown = Object.entries(headers).filter(([name]) => !secret.includes(name))
  return { method, query: { ...(query as Input) }, headers: Object.fromEntries(shown) }
}

/**
 * Reads the body of a request as the input of a workflow: an object unchanged, anything else as `{ body }`.
 * @param maxBytes limits the body after decompression.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE or VALIDATION_ERROR
 */
export async function readHookInput(request: FastifyRequest, readJson: ReadJson, maxBytes: number) {
  const contentType = request.headers['content-type'] ?? ''
  const [type = ''] = contentType
    .toLowerCase()
    .split(';', 1)
    .map(text => text.trim())
  const bytes = await decompressed(request, maxBytes)
  const value =
    bytes.length === 0 ? {} : await readers[kindOf(type)]({ request, contentType, bytes, readJson })
  if (!Buffer.isBuffer(value) && typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Input
  return { body: value }
}

type Kind = 'json' | 'form' | 'multipart' | 'text' | 'unnamed'

function kindOf(type: string): Kind {
  if (type === '') return 'unnamed'
  if (/^(?:application|text)\/json$|^[^/]+\/[^/]+\+json$/.test(type)) return 'json'
  if (type === 'application/x-www-form-urlencoded') return 'form'
  if (type === 'multipart/form-data') return 'multipart'
  if (/^text\/|^application\/xml$|\+xml$/.test(type)) return 'text'
  throw unsupported(`Bodies of type ${type} are not taken. Send JSON, a form or text.`)
}

interface Body {
  request: FastifyRequest
  contentType: string
  bytes: Uint8Array<ArrayBuffer>
  readJson: ReadJson
}

const readers: Record<Kind, (body: Body) => unknown> = {
  json: body => body.readJson(body.request, textOf(body)),
  form: body => {
    requireFewFields(body, '&')
    return fieldsOf(new URLSearchParams(inUtf8(body)))
  },
  multipart: async body => {
    const { bytes, contentType } = body
    requireFewFields(body, `--${/boundary="?([^";,\s]+)/i.exec(contentType)?.[1] ?? ''}`)
    const form = await new Response(bytes, { headers: { 'content-type': contentType } })
      .formData()
      .catch(() =>
        Promise.reject(
          invalid('body', 'is no form that begins and ends with the boundary of its content type'),
        ),
      )
    return fieldsOf(form)
  },
  text: body => storableText(body),
  unnamed: body => {
    const text = storableText(body)
    try {
      JSON.parse(text)
    } catch {
      return text
    }
    return body.readJson(body.request, text)
  },
}

/** Fields are counted before they are read, because a field takes far more time than its bytes. */
function requireFewFields({ bytes }: Body, separator: string): void {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  let count = 0
  for (let at = body.indexOf(separator); at !== -1; at = body.indexOf(separator, at + separator.length)) {
    count += 1
    if (count > maxFields) throw invalid('body', `must not hold more than ${maxFields} fields`)
  }
}

/** A repeated field becomes a list. */
function fieldsOf(entries: Iterable<[string, unknown]>): Input {
  const grouped = Map.groupBy(entries, ([name]) => name)
  const fields = [...grouped].map(([name, all]): [string, unknown] => {
    const values = all.map(([, value]) => value)
    if (name === '__proto__') throw invalid('body', 'must not hold a field named __proto__')
    if (values.some(value => typeof value !== 'string'))
      throw unsupported(
        `The field ${name} is a file. Addresses of workflows take texts only: send where the file is.`,
      )
    return [name, values.length === 1 ? values[0] : values]
  })
  requireStorable(Object.fromEntries(fields), 'body')
  return Object.fromEntries(fields)
}

function storableText(body: Body): string {
  const text = textOf(body)
  requireStorable(text, 'body')
  return text
}

/** Decodes the body, and re-encodes its escapes as UTF-8 for any character set. */
function inUtf8(body: Body): string {
  const decode = decoderOf(body)
  const escaped = (run: string) => encodeURIComponent(decode(Buffer.from(run.replaceAll('%', ''), 'hex')))
  return decode(body.bytes).replace(/(?:%[89a-f][\da-f])+/gi, escaped)
}

function textOf(body: Body): string {
  return decoderOf(body)(body.bytes)
}

/** Returns a decoder for the character set of the content type. */
function decoderOf({ contentType }: Body): (bytes: Uint8Array) => string {
  const label = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1] ?? 'utf-8'
  const decoder = orElse(
    () => new TextDecoder(label, { fatal: true }),
    () => unsupported(`The character set ${label} is not known. Send UTF-8.`),
  )
  return bytes =>
    orElse(
      () => decoder.decode(bytes),
      () => invalid('body', `is not valid ${label}`),
    )
}

function orElse<Result>(attempt: () => Result, problem: () => AppError): Result {
  try {
    return attempt()
  } catch {
    throw problem()
  }
}

async function decompressed(
  { headers, body }: FastifyRequest,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
  const coding = (headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  if (coding === 'identity' || bytes.length === 0) return new Uint8Array(bytes)
  if (coding !== 'gzip' && coding !== 'x-gzip')
    throw unsupported(`The content coding ${coding} is not taken. Send the body as it is, or with gzip.`)
  const whole = decompress(bytes, { maxOutputLength: maxBytes }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_BUFFER_TOO_LARGE')
      throw new AppError('PAYLOAD_TOO_LARGE', `The body has more than ${maxBytes} bytes after decompression.`)
    throw invalid('body', 'is not valid gzip')
  })
  return new Uint8Array(await whole)
}

function unsupported(message: string): AppError {
  return new AppError('UNSUPPORTED_MEDIA_TYPE', message)
}
