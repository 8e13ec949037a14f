/** Small images as bytes, made by hand, with what cameras write into them. */
import { crc32, deflateSync } from 'node:zlib'

/** Stands in the metadata of all images that have some. */
export const place = 'GPS 52.5163N 13.3777E'

const ascii = (text: string) => Buffer.from(text, 'latin1')

function numbers(bytes: number, ...values: number[]): Buffer {
  const buffer = Buffer.alloc(bytes * values.length)
  for (const [index, value] of values.entries()) buffer.writeUIntBE(value, index * bytes, bytes)
  return buffer
}

/** EXIF with an orientation and a place, in either order of bytes. */
export function exif(orientation: number, isLittle = false): Buffer {
  const entry = isLittle
    ? Buffer.from([0x12, 1, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0])
    : Buffer.from([1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0])
  const head = isLittle ? [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0] : [0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1]
  return Buffer.concat([Buffer.from(head), entry, numbers(4, 0), ascii(place)])
}

function segment(marker: number, content: Buffer): Buffer {
  return Buffer.concat([numbers(2, marker, content.length + 2), content])
}

interface Picture {
  width?: number
  height?: number
  orientation?: number
  isLittle?: boolean
  /** Behind the end. */
  appended?: Buffer
}

export function jpeg({ width = 4, height = 3, orientation, isLittle, appended }: Picture = {}): Buffer {
  const frame = Buffer.concat([Buffer.from([8]), numbers(2, height, width), Buffer.from([1, 1, 0x11, 0])])
  const metadata =
    orientation === undefined
      ? []
      : [
          segment(0xffe1, Buffer.concat([ascii('Exif\0\0'), exif(orientation, isLittle)])),
          segment(0xffe1, ascii(`http://ns.adobe.com/xap/1.0/\0${place}`)),
          segment(0xffed, ascii(`Photoshop 3.0\0${place}`)),
          segment(0xffe2, ascii(`MPF\0${place}`)),
          segment(0xfffe, ascii(place)),
        ]
  return Buffer.concat([
    ...[numbers(2, 0xffd8), segment(0xffe0, ascii('JFIF\0\x01\x02\0\0\x01\0\x01\0\0')), ...metadata],
    ...[segment(0xffe2, ascii('ICC_PROFILE\0\x01\x01kept')), segment(0xffc0, frame)],
    segment(0xffda, Buffer.from([1, 1, 0, 0, 63, 0])),
    // Coded data, with an escaped FF and a restart between them.
    ...[Buffer.from([0x12, 0xff, 0, 0x34, 0xff, 0xd0, 0x56]), numbers(2, 0xffd9)],
    appended ?? Buffer.alloc(0),
  ])
}

function chunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([ascii(type), content])
  return Buffer.concat([numbers(4, content.length), body, numbers(4, crc32(body))])
}

export function png({ width = 4, height = 3, orientation, appended }: Picture = {}): Buffer {
  const header = Buffer.concat([numbers(4, width, height), Buffer.from([8, 0, 0, 0, 0])])
  const rows = deflateSync(Buffer.alloc((Math.min(width, 100) + 1) * Math.min(height, 100)))
  const metadata =
    orientation === undefined
      ? []
      : [
          chunk('eXIf', exif(orientation)),
          chunk('tEXt', ascii(`Comment\0${place}`)),
          chunk('iTXt', ascii(`XML:com.adobe.xmp\0\0\0\0\0${place}`)),
        ]
  return Buffer.concat([
    ...[Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]), chunk('IHDR', header), ...metadata],
    ...[chunk('gAMA', numbers(4, 45455)), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))],
    appended ?? Buffer.alloc(0),
  ])
}

/** XMP in a GIF is no sequence of blocks; the 258 bytes behind it lead each reader of blocks to their end. */
const endOfXmp = Buffer.from([1, ...Array.from({ length: 256 }, (_, index) => 255 - index), 0])

export function gif({ width = 4, height = 3, orientation, appended }: Picture = {}): Buffer {
  const little = (value: number) => numbers(2, value).swap16()
  const size = Buffer.concat([little(width), little(height)])
  const picture = Buffer.concat([Buffer.from([0x2c, 0, 0, 0, 0]), size, Buffer.from([0, 2, 2, 0x44, 1, 0])])
  const frame = Buffer.concat([Buffer.from([0x21, 0xf9, 4, 0, 10, 0, 0, 0]), picture])
  const block = `${String.fromCharCode(place.length)}${place}\0`
  const metadata =
    orientation === undefined
      ? []
      : [
          ascii(`!\xfe${block}`),
          ...[ascii(`!\xff\x0bXMP DataXMP<x:xmpmeta>${place}</x:xmpmeta>`), endOfXmp],
          ascii(`!\xff\x0bMGK8BIM0000${block}`),
        ]
  return Buffer.concat([
    ...[ascii('GIF89a'), size, Buffer.from([0x80, 0, 0, 0, 0, 0, 255, 255, 255])],
    ...[ascii('!\xff\x0bNETSCAPE2.0\x03\x01\0\0\0'), frame, ...metadata, frame, ascii(';')],
    appended ?? Buffer.alloc(0),
  ])
}

function riff(type: string, content: Buffer): Buffer {
  const length = numbers(4, content.length).swap32()
  return Buffer.concat([ascii(type), length, content, Buffer.alloc(content.length % 2)])
}

/** Lossy; with metadata in the extended form. */
export function webp({ width = 4, height = 3, orientation }: Picture = {}): Buffer {
  const little = (value: number, bytes = 2) => numbers(bytes, value).reverse()
  const pixels = riff(
    'VP8 ',
    Buffer.concat([Buffer.from([0x10, 0, 0, 0x9d, 1, 0x2a]), little(width), little(height), ascii('odd')]),
  )
  const extended = Buffer.concat([Buffer.from([0x0c, 0, 0, 0]), little(width - 1, 3), little(height - 1, 3)])
  const chunks =
    orientation === undefined
      ? [pixels]
      : [riff('VP8X', extended), pixels, riff('EXIF', exif(orientation)), riff('XMP ', ascii(place))]
  return riff('RIFF', Buffer.concat([ascii('WEBP'), ...chunks]))
}

/** As a phone writes it, which no model takes. */
export function heic(): Buffer {
  return Buffer.concat([
    numbers(4, 24),
    ascii('ftypheic'),
    numbers(4, 0),
    ascii('heicmif1'),
    Buffer.alloc(100),
  ])
}
