import { extname } from 'node:path'
import { decodeText } from '#documents/parsing/encoding/decode-text.ts'
import { UnreadableDocument } from '#documents/parsing/parsed-document.ts'
import { AppError } from '#platform/errors.ts'
import { isShownToModels } from './image.ts'

/** Number of bytes at the beginning of a file that decide its kind. */
export const headBytes = 64 * 1024

export interface FileKind {
  kind: 'image' | 'document' | 'other'
  mimeType: string
}

const documents = new Set([
  'application/pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
])
/** Types of texts, whose content looks alike. */
const textTypes: Record<string, string> = {
  '.md': 'text/markdown',
  '.csv': 'text/csv',
  '.json': 'application/json',
  '.jsonl': 'application/json',
  '.ndjson': 'application/json',
}

/**
 * Returns the kind of a file by its content; the name only distinguishes texts.
 * @throws AppError `UNSUPPORTED_MEDIA_TYPE` for an image that no model accepts.
 */
export async function kindOf(head: Uint8Array, name: string): Promise<FileKind> {
  // Loaded with the first file.
  const { fileTypeFromBuffer } = await import('file-type')
  const found = (await fileTypeFromBuffer(head))?.mime
  const isMarkup = found === undefined || found === 'application/xml' || found.startsWith('text/')
  const text = isMarkup ? textIn(head) : undefined
  const mimeType = text === undefined ? (found ?? 'application/octet-stream') : typeOfText(text, name)
  if (isShownToModels(mimeType)) return { kind: 'image', mimeType }
  if (mimeType.startsWith('image/'))
    throw new AppError(
      'UNSUPPORTED_MEDIA_TYPE',
      `Models take no images of the type ${mimeType}: save it as JPEG, PNG, GIF or WebP and send that.`,
    )
  return { kind: text !== undefined || documents.has(mimeType) ? 'document' : 'other', mimeType }
}

function textIn(head: Uint8Array): string | undefined {
  try {
    return decodeText(head)
  } catch (error) {
    if (error instanceof UnreadableDocument) return undefined
    throw error
  }
}

function typeOfText(text: string, name: string): string {
  const beginning = text.slice(0, 2000).trimStart()
  if (/^<(?!!doctype html|html)/i.test(beginning) && /<svg[\s>]/i.test(beginning)) return 'image/svg+xml'
  return textTypes[extname(name).toLowerCase()] ?? 'text/plain'
}
