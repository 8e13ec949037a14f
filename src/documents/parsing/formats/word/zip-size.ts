import { createInflateRaw } from 'node:zlib'
import { limits } from '../../limits.ts'
import { UnreadableDocument } from '../../parsed-document.ts'
import { damagedDocument } from './damaged-document.ts'

/** APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16: signatures, and lengths of the parts before variable ones. */
const endRecord = { signature: 0x06054b50, length: 22 }
const directoryEntry = { signature: 0x02014b50, length: 46 }
const localHeader = { signature: 0x04034b50, length: 30 }
const maxCommentLength = 0xffff
const stored = 0
const deflated = 8
/** The first of the flags (4.4.4). */
const encrypted = 1

/**
 * Inflates and drops every entry of a zip archive, because declared sizes can lie; throws
 * `UnreadableDocument` for one that exceeds the limits, or that is no archive.
 */
export async function assertInflatesWithinLimits(archive: Uint8Array): Promise<void> {
  let total = 0
  for (const { method, data } of entriesOf(archive)) {
    if (method !== stored && method !== deflated) throw damagedDocument()
    const allowed = Math.min(limits.inflatedBytes - total, ratioBound(data.length))
    total += method === stored ? data.length : await inflatedSize(data, allowed)
    if (total > limits.inflatedBytes) throw tooLarge()
  }
}

function ratioBound(compressedBytes: number): number {
  return Math.max(limits.ratioFloorBytes, compressedBytes * limits.inflationRatio)
}

async function inflatedSize(data: Uint8Array, allowed: number): Promise<number> {
  const inflate = createInflateRaw()
  inflate.end(data)
  let size = 0
  try {
    for await (const part of inflate) {
      size += part.length
      if (size > allowed) throw tooLarge()
    }
  } catch (error) {
    throw error instanceof UnreadableDocument ? error : damagedDocument(error)
  }
  return size
}

function* entriesOf(archive: Uint8Array): Generator<{ method: number; data: Uint8Array }> {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength)
  let at = findDirectory(view)
  // Visits all existing entries, like the reader: the end record can name fewer.
  while (hasSignature(view, at, directoryEntry)) {
    if (view.getUint16(at + 8, true) & encrypted) {
      throw new UnreadableDocument('This document has encrypted parts. Save it as .docx without a password.')
    }
    const method = view.getUint16(at + 10, true)
    const compressedBytes = view.getUint32(at + 20, true)
    const header = view.getUint32(at + 42, true)
    if (!hasSignature(view, header, localHeader)) throw damagedDocument()
    const start =
      header + localHeader.length + view.getUint16(header + 26, true) + view.getUint16(header + 28, true)
    yield { method, data: archive.subarray(start, start + compressedBytes) }
    at +=
      directoryEntry.length +
      view.getUint16(at + 28, true) +
      view.getUint16(at + 30, true) +
      view.getUint16(at + 32, true)
  }
}

/**
 * Returns the beginning of the directory. It ends where the end record begins: otherwise, or if longer
 * records are declared (4.4.1.4), the reader would look for it elsewhere.
 */
function findDirectory(view: DataView): number {
  const end = findEndRecord(view)
  const hasLongerRecords = [4, 6, 8, 10].some(place => view.getUint16(end + place, true) === 0xffff)
  const start = view.getUint32(end + 16, true)
  if (hasLongerRecords || start + view.getUint32(end + 12, true) !== end) throw damagedDocument()
  return start
}

function findEndRecord(view: DataView): number {
  const last = view.byteLength - endRecord.length
  for (let at = last; at >= 0 && at >= last - maxCommentLength; at--) {
    if (view.getUint32(at, true) === endRecord.signature) return at
  }
  throw damagedDocument()
}

interface Part {
  signature: number
  length: number
}

function hasSignature(view: DataView, at: number, part: Part): boolean {
  return at + part.length <= view.byteLength && view.getUint32(at, true) === part.signature
}

function tooLarge(): UnreadableDocument {
  return new UnreadableDocument(
    'This document unpacks to far more data than a text needs, so it was not opened.',
  )
}
