import { addAbortSignal, type Readable } from 'node:stream'
import type { MultipartFile } from '@fastify/multipart'
import multipart from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { AppError, type ErrorCode, invalid } from '../../errors.ts'
import { orAborted } from '../../or-aborted.ts'
import type { App } from '../app.ts'

/** A form whose files have been stored. */
export interface Form {
  fields: Record<string, string>
  /** The last file, if there are several. */
  file: ReceivedFile | undefined
}

export interface ReceivedFile {
  field: string
  /** The client's name for it: text to show, never a path. */
  name: string
  bytes: number
}

export interface FormOptions {
  file: UploadTarget
  maxBytes: number
  /** Defaults to 1. */
  maxFiles?: number
  /** Throws to reject a file by its name, before the file is read. */
  acceptName(name: string, field: string): void
  /** Aborts when the form is no longer wanted; its data is then refused for the signal's reason. */
  signal: AbortSignal
}

/** The place where the files of a form are stored. */
export interface UploadTarget {
  /** Called with one file at a time; throws the errors of the stream. */
  store(content: Readable, name: string): Promise<void>
  /** Called once for a rejected form, even if nothing was stored. Must not throw. */
  discard(): Promise<void>
}

/** Accepts multipart forms instead of JSON in the routes of a scope. */
export function acceptForms(scope: App): void {
  void scope.register(multipart, { limits: { files: 1, fields: 50, fieldSize: 100_000, parts: 60 } })
}

/**
 * Reads a form with its parts in any order, and stores the file while it arrives. Throws for an invalid form,
 * or if its sender has lost the right to send it, and then leaves no file.
 */
export async function readForm(request: FastifyRequest, options: FormOptions): Promise<Form> {
  try {
    const form = await readParts(request, options)
    await request.requireAccess()
    return form
  } catch (error) {
    // Most clients send the whole form before they read the response, and must still be connected then.
    request.raw.unpipe().resume()
    await options.file.discard()
    throw options.signal.aborted ? options.signal.reason : translate(error, options)
  }
}

type Complaint = [code: ErrorCode, message: string, field?: string]

const parserCodes: Record<string, Complaint> = {
  FST_INVALID_MULTIPART_CONTENT_TYPE: ['UNSUPPORTED_MEDIA_TYPE', 'Send this request as multipart/form-data.'],
  FST_FILES_LIMIT: ['VALIDATION_ERROR', 'Send one file at a time.', 'file'],
  FST_FIELDS_LIMIT: ['VALIDATION_ERROR', 'The form has too many fields.'],
  FST_PARTS_LIMIT: ['VALIDATION_ERROR', 'The form has too many parts.'],
  FST_PROTO_VIOLATION: ['VALIDATION_ERROR', 'The form has a field of a forbidden name.'],
  FST_INVALID_JSON_FIELD_ERROR: ['VALIDATION_ERROR', 'A field of the form says that it is JSON but is not.'],
  FST_MP_PREMATURE_CLOSE: ['VALIDATION_ERROR', 'The connection was closed before the form had arrived.'],
}

const malformed: Complaint = [
  'VALIDATION_ERROR',
  'The form is malformed: it must begin and end with the boundary that its content type names.',
]

/** Converts the parser's errors to the caller's; other failures, such as those of the storage, remain. */
function translate(error: unknown, { maxFiles = 1 }: FormOptions): unknown {
  if (!(error instanceof Error)) return error
  const known = 'code' in error ? parserCodes[String(error.code)] : undefined
  // Errors about the form's syntax have neither a code nor a class of their own.
  const isSyntax = error.constructor === Error && !('code' in error)
  const complaint = known ?? (isSyntax ? malformed : undefined)
  if (complaint === undefined) return error
  const [code, message, field = 'body'] = complaint
  const issue = field === 'file' && maxFiles > 1 ? `Send at most ${maxFiles} files at a time.` : message
  const details = code === 'VALIDATION_ERROR' ? { field, issue } : {}
  return new AppError(code, issue, { details, cause: error })
}

async function readParts(request: FastifyRequest, options: FormOptions): Promise<Form> {
  const form: Form = { fields: {}, file: undefined }
  const parts = request.parts({ limits: { fileSize: options.maxBytes, files: options.maxFiles ?? 1 } })
  const next = () => orAborted(parts.next(), options.signal)
  for (let { done, value: part } = await next(); !done; { done, value: part } = await next()) {
    if (part.type === 'file') form.file = await receive(part, options)
    else form.fields[part.fieldname] = textOf(part.value)
  }
  return form
}

/** Returns text for a field that is declared as JSON and arrives parsed. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Marks an error of the storage, so that the form is not blamed for it. */
async function store(content: Readable, name: string, target: UploadTarget): Promise<void> {
  try {
    await target.store(content, name)
  } catch (error) {
    if (error === content.errored || error instanceof AppError) throw error
    throw new AppError('INTERNAL_ERROR', 'The file could not be stored.', { cause: error })
  }
}

async function receive(
  part: MultipartFile,
  { file, maxBytes, acceptName, signal }: FormOptions,
): Promise<ReceivedFile> {
  const name = part.filename ?? ''
  if (name === '') throw invalid(part.fieldname, 'has no file name')
  acceptName(name, part.fieldname)
  await store(addAbortSignal(signal, part.file), name, file)
  if (part.file.truncated)
    throw new AppError(
      'PAYLOAD_TOO_LARGE',
      `The file is larger than the ${maxBytes} bytes that are accepted.`,
    )
  if (part.file.bytesRead === 0) throw invalid(part.fieldname, 'is empty: choose a file with content')
  return { field: part.fieldname, name, bytes: part.file.bytesRead }
}
