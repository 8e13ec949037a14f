import { AppError } from '#platform/errors.ts'

/** Max pixels of a side. */
const maxSide = 8000
/** Max segments and chunks of one image; those of an honest one are thousands of bytes each. */
const maxParts = 10_000

/** The parts of an image to keep, and the facts of its header. */
interface Picture {
  width: number
  height: number
  parts: Uint8Array[]
}

const readers: Record<string, (bytes: Buffer) => Picture> = {
  'image/jpeg': readJpeg,
  'image/png': readPng,
  'image/gif': readGif,
  'image/webp': readWebp,
}

export function isShownToModels(mimeType: string): boolean {
  return Object.hasOwn(readers, mimeType)
}

/**
 * Removes an image's metadata: place, time, camera, comments, previews, and data after its end. Its
 * pixels are neither decoded nor changed, and a photograph stays upright: JPEG keeps its orientation.
 * @throws AppError `VALIDATION_ERROR` if it is cut off or has too many pixels.
 */
export function withoutMetadata(bytes: Buffer, mimeType: string): Buffer {
  const { width, height, parts } = read(bytes, mimeType)
  if (width === 0 || height === 0) throw damaged()
  if (Math.max(width, height) > maxSide)
    throw new AppError(
      'VALIDATION_ERROR',
      `This image has ${width} × ${height} pixels, but models take at most ${maxSide} a side. Make it smaller and send it again.`,
      { details: { field: 'file', issue: `has more than ${maxSide} pixels a side` } },
    )
  return Buffer.concat(parts)
}

function read(bytes: Buffer, mimeType: string): Picture {
  try {
    return readers[mimeType]?.(bytes) ?? { width: 0, height: 0, parts: [] }
  } catch (cause) {
    if (cause instanceof RangeError) throw damaged(cause)
    throw cause
  }
}

function damaged(cause?: unknown): AppError {
  const message = 'This image is cut off or damaged. Open it, save it again, and send that.'
  return new AppError('VALIDATION_ERROR', message, { details: { field: 'file', issue: message }, cause })
}

/** Returns the bytes from `start` to `end`. Throws if some are missing. */
function within(bytes: Buffer, start: number, end: number): Buffer {
  if (end > bytes.length) throw new RangeError('a part is longer than the file')
  return bytes.subarray(start, end)
}

/** Limits the parts, because millions of empty ones would block the event loop. */
function requireFew(parts: number): void {
  if (parts > maxParts) throw new RangeError('there are too many parts')
}

/** Reads ITU T.81, annex B: segments, of which scans are followed by coded data without a length. */
function readJpeg(bytes: Buffer): Picture {
  const picture: Picture = { width: 0, height: 0, parts: [bytes.subarray(0, 2)] }
  let exif: number | undefined
  for (let at = 2, seen = 1; ; seen += 1) {
    requireFew(seen)
    // Any number of FF can precede a marker.
    while (bytes[at + 1] === 0xff) at += 1
    const marker = bytes.readUInt16BE(at)
    if (marker < 0xff01) throw new RangeError('no marker')
    if (marker === 0xffd9) break
    const segment = within(bytes, at, at + 2 + bytes.readUInt16BE(at + 2))
    const text = segment.toString('latin1', 4, 16)
    if (isFrame(marker) && picture.width === 0)
      Object.assign(picture, { height: segment.readUInt16BE(5), width: segment.readUInt16BE(7) })
    if (marker === 0xffe1 && text.startsWith('Exif\0')) exif ??= orientationIn(segment.subarray(10))
    if (isOfPixels(marker, text)) picture.parts.push(segment)
    const start = at + segment.length
    at = marker === 0xffda ? endOfScan(bytes, start) : start
    picture.parts.push(bytes.subarray(start, at))
  }
  const turned =
    exif === undefined ? [] : [Buffer.from([0xff, 0xe1, 0, 34]), Buffer.from('Exif\0\0'), tiff(exif)]
  picture.parts.splice(1, 0, ...turned)
  picture.parts.push(Buffer.from([0xff, 0xd9]))
  return picture
}

function isFrame(marker: number): boolean {
  return marker >= 0xffc0 && marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker)
}

/** True for segments that affect pixels: of applications only JFIF, Adobe's colour transformation, and the colour profile. */
function isOfPixels(marker: number, text: string): boolean {
  if (marker === 0xffe2) return text.startsWith('ICC_PROFILE')
  const isOfApplication = marker >= 0xffe0 && marker <= 0xffef
  return isOfApplication ? marker === 0xffe0 || marker === 0xffee : marker !== 0xfffe
}

function endOfScan(bytes: Buffer, start: number): number {
  // Reads byte by byte: `indexOf` is slow if every second byte is FF.
  for (let at = start; at + 1 < bytes.length; at += 1) {
    if (bytes[at] !== 0xff) continue
    const next = bytes.readUInt8(at + 1)
    if (next !== 0 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return at
  }
  throw new RangeError('a scan has no end')
}

const paletteAndColours = new Set('tRNS gAMA cHRM sRGB iCCP cICP sBIT bKGD pHYs acTL fcTL fdAT'.split(' '))

/** Reads W3C PNG, 5.3: chunks with length, type and checksum; required types begin with a capital letter. */
function readPng(bytes: Buffer): Picture {
  const parts: Uint8Array[] = [bytes.subarray(0, 8)]
  for (let at = 8, type = '', seen = 1; type !== 'IEND'; seen += 1) {
    requireFew(seen)
    const chunk = within(bytes, at, at + 12 + bytes.readUInt32BE(at))
    type = chunk.toString('latin1', 4, 8)
    if (/^[A-Z]/.test(type) || paletteAndColours.has(type)) parts.push(chunk)
    at += chunk.length
  }
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20), parts }
}

/** Beginnings of the extensions for repetition, and for the colour profile. */
const applicationsOfGif = ['NETSCAPE2.0', 'ANIMEXTS1.0', 'ICCRGBG1012'].map(name => `\xff\x0b${name}`)

/** Reads GIF89a, 17 to 27: extensions and images, of blocks with lengths. Many real files lack their last byte. */
function readGif(bytes: Buffer): Picture {
  const header = within(bytes, 0, 13 + paletteLength(bytes.readUInt8(10)))
  const parts: Uint8Array[] = [header]
  for (let at = header.length, seen = 1; bytes[at] === 0x21 || bytes[at] === 0x2c; seen += 1) {
    requireFew(seen)
    const isImage = bytes[at] === 0x2c
    const start = isImage ? at + 11 + paletteLength(bytes.readUInt8(at + 9)) : at + 2
    const part = bytes.subarray(at, endOfBlocks(bytes, start))
    const isControl = part[1] === 0xf9 || applicationsOfGif.includes(part.toString('latin1', 1, 14))
    if (isImage || isControl) parts.push(part)
    at += part.length
  }
  parts.push(Buffer.from(';'))
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8), parts }
}

/** Returns the length of the palette after these flags. */
function paletteLength(flags: number): number {
  return flags & 0x80 ? 3 << ((flags & 7) + 1) : 0
}

function endOfBlocks(bytes: Buffer, start: number): number {
  let at = start
  for (let length = 1; length > 0; at += 1 + length) length = bytes.readUInt8(at)
  return at
}

const partsOfWebp = new Set(['VP8X', 'VP8 ', 'VP8L', 'ALPH', 'ANIM', 'ANMF', 'ICCP'])

/** Reads RFC 9649: chunks of RIFF, padded to even lengths. */
function readWebp(bytes: Buffer): Picture {
  const end = 8 + bytes.readUInt32LE(4)
  const picture: Picture = { width: 0, height: 0, parts: [] }
  for (let at = 12, seen = 1; at < end; seen += 1) {
    requireFew(seen)
    const length = bytes.readUInt32LE(at + 4)
    const chunk = Buffer.from(within(bytes, at, at + 8 + length))
    const type = chunk.toString('latin1', 0, 4)
    if (picture.width === 0) Object.assign(picture, webpSize(type, chunk))
    // Two bits of the header declare EXIF and XMP.
    if (type === 'VP8X') chunk.writeUInt8(chunk.readUInt8(8) & ~0x0c, 8)
    if (partsOfWebp.has(type)) picture.parts.push(chunk, Buffer.alloc(length % 2))
    at += 8 + length + (length % 2)
  }
  const head = Buffer.from('RIFF....WEBP')
  head.writeUInt32LE(4 + picture.parts.reduce((sum, part) => sum + part.length, 0), 4)
  picture.parts.unshift(head)
  return picture
}

function webpSize(type: string, chunk: Buffer) {
  if (type === 'VP8X') return { width: 1 + chunk.readUIntLE(12, 3), height: 1 + chunk.readUIntLE(15, 3) }
  if (type === 'VP8 ')
    return { width: chunk.readUInt16LE(14) & 0x3fff, height: chunk.readUInt16LE(16) & 0x3fff }
  if (type !== 'VP8L') return undefined
  const bits = chunk.readUInt32LE(9)
  return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >> 14) & 0x3fff) }
}

const orientationTag = 0x0112

/** Returns the orientation in EXIF, which is TIFF; undefined for the stored orientation, or if nothing is readable. */
function orientationIn(exif: Buffer): number | undefined {
  try {
    const isLittle = exif.toString('latin1', 0, 2) === 'II'
    const short = (at: number) => (isLittle ? exif.readUInt16LE(at) : exif.readUInt16BE(at))
    const first = isLittle ? exif.readUInt32LE(4) : exif.readUInt32BE(4)
    for (let entry = 0; entry < short(first); entry += 1) {
      const at = first + 2 + 12 * entry
      if (short(at) === orientationTag)
        return short(at + 8) > 1 && short(at + 8) <= 8 ? short(at + 8) : undefined
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return undefined
}

/** Returns EXIF of 26 bytes with only the orientation. */
function tiff(orientation: number): Buffer {
  return Buffer.from(`4d4d002a0000000800010112000300000001000${orientation}000000000000`, 'hex')
}
