import type { ChatFeature } from '#features/chat/chat.feature.ts'
import { type Attached, formatOfType } from '#features/knowledge/attached.service.ts'
import { imagePart } from '#models/language-model/images.ts'
import type { PromptMessage } from '#models/language-model/language-model.ts'
import { type Passage, writePassages } from '#models/language-model/passages.ts'
import { bytesOfBase64 } from '#platform/base64.ts'
import { AppError, invalid } from '#platform/errors.ts'
import type { Outbound } from '#platform/outbound/outbound.ts'
import type { CutFiles } from './large-bodies.ts'
import type { SentMessage } from './openai.schema.ts'

/** An image, or the text of a document. */
type FilePart = Extract<PromptMessage, { role: 'user' }>['content'][number]

interface Dependencies {
  files: Pick<ChatFeature['files'], 'examine'>
  attached: Pick<Attached, 'pages'>
  outbound: Pick<Outbound, 'fetch'>
  maxUploadBytes: number
}

const maxFiles = 50
const maxAddresses = 10
/** Max characters of one document. */
const maxCharacters = 400_000
/** Timeout of each address (ms). */
const fetchMs = 20_000

interface Named {
  name: string
  /** An address, or base64. */
  from: string
}

interface Room {
  /** That may be fetched yet. */
  bytes: number
  cut: CutFiles
}

/** Replaces the files of users' messages: documents by texts, images by what models take. Throws VALIDATION_ERROR. */
export function createReadFiles({ files, attached, outbound, maxUploadBytes }: Dependencies) {
  async function contentOf(field: string, { from }: Named, room: Room, signal: AbortSignal) {
    if (!isAddress(from)) {
      const content = room.cut.get(from) ?? bytesOfBase64(from)
      if (content === undefined) throw invalid(field, 'must be a data URL in base64, or an address')
      return content
    }
    const limits = { maxBytes: room.bytes, timeoutMs: fetchMs, signal }
    const { status, body } = await outbound.fetch(from, limits).catch(error => {
      throw error instanceof AppError ? invalid(field, `can’t be fetched: ${error.message}`) : error
    })
    if (status !== 200) throw invalid(field, `can’t be fetched: its address answered with status ${status}`)
    room.bytes -= body.length
    return body
  }

  async function read(field: string, file: Named, room: Room, signal: AbortSignal): Promise<FilePart> {
    const { buffer, byteOffset, length } = await contentOf(field, file, room, signal)
    const given = Buffer.from(buffer, byteOffset, length)
    const { kind, mimeType, content } = await files.examine(given, file.name).catch(error => {
      throw error instanceof AppError ? invalid(field, `can’t be read: ${error.message}`) : error
    })
    if (kind === 'image') return imagePart(file.name, mimeType, content.toString('base64'))
    if (kind === 'other') throw invalid(field, `can’t be read: models take no files of the type ${mimeType}`)
    const pages = await attached.pages(file.name, { content, format: formatOfType(mimeType) }, signal)
    const text = 'reason' in pages ? `(It can’t be read: ${pages.reason})` : writePassages(beginning(pages))
    return { type: 'text', text: `The file “${file.name}”:\n${text}` }
  }

  return async (
    messages: readonly SentMessage[],
    cut: CutFiles,
    signal: AbortSignal,
  ): Promise<SentMessage[]> => {
    requireFew(messages)
    const room = { bytes: maxUploadBytes, cut }
    async function ready(part: unknown, field: string): Promise<unknown> {
      const file = fileIn(part)
      if (file === undefined) return part
      const made = await read(field, file, room, signal)
      fileParts.set(made, made)
      return made
    }
    const answered: SentMessage[] = []
    for (const [at, message] of messages.entries()) {
      const parts: unknown[] = []
      const given = partsOfUser(message)
      for (const [place, part] of (given ?? []).entries())
        parts.push(await ready(part, `${placeOf(message, at)}.${place}`))
      answered.push(given ? { ...message, content: parts } : message)
    }
    return answered
  }
}

function partsOfUser({ role, content }: SentMessage): unknown[] | undefined {
  return role === 'user' && Array.isArray(content) ? content : undefined
}

/** Before the first is read. Throws VALIDATION_ERROR. */
function requireFew(messages: readonly SentMessage[]): void {
  const files = messages.flatMap(message => (partsOfUser(message) ?? []).flatMap(part => fileIn(part) ?? []))
  if (files.length > maxFiles) throw invalid('messages', `must not have more than ${maxFiles} files`)
  if (files.filter(({ from }) => isAddress(from)).length > maxAddresses)
    throw invalid('messages', `must not have more than ${maxAddresses} files by address: send others as data`)
}

function isAddress(from: string): boolean {
  return /^https?:/i.test(from)
}

export type ReadFiles = ReturnType<typeof createReadFiles>

export function placeOf({ place }: SentMessage, at: number): string {
  return place ?? `messages.${at}.content`
}

/** Reads a file part in the form of either API; returns undefined for a text and for any other part. */
function fileIn(part: unknown): Named | undefined {
  const { type, image_url: image, file_url, ...others } = Object(part)
  const { file_data, filename } = type === 'file' ? Object(others.file) : others
  const isImage = type === 'image_url' || type === 'input_image'
  if (!isImage && type !== 'file' && type !== 'input_file') return undefined
  const from = isImage ? (Object(image).url ?? image) : (file_data ?? file_url)
  if (typeof from !== 'string') return undefined
  return { name: typeof filename === 'string' ? filename.slice(0, 300) : isImage ? 'image' : 'file', from }
}

/** The file parts that were made here, of the requests that run. */
const fileParts = new WeakMap<object, FilePart>()

/** The part itself if it is of a file, with the type that it has. */
export function asFilePart(part: unknown): FilePart | undefined {
  return fileParts.get(Object(part))
}

function beginning(pages: readonly Passage[]): Passage[] {
  let room = maxCharacters
  const kept = pages.flatMap(page => {
    const text = page.text.slice(0, Math.max(0, room)).toWellFormed()
    room -= page.text.length
    return text === '' ? [] : [{ ...page, text }]
  })
  const { source = '' } = pages[0] ?? {}
  return room < 0 ? [...kept, { source, text: '(The rest of this file is left out.)' }] : kept
}
