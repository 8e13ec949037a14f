import { describe, expect, test } from 'vitest'
import { legacyTexts, shortLegacyTexts } from '#test/support/legacy-texts.ts'
import { UnreadableDocument } from '../parsed-document.ts'
import { decodeText } from './decode-text.ts'

const chinese = '这是第一所国立戏剧艺术学院，设有表演系和舞台导演系。'

/** The same text in the GB 2312 part of GB 18030, which Node decodes but does not encode. */
const chineseBytes = Buffer.from(
  'd5e2cac7b5dad2bbcbf9b9fac1a2cfb7bee7d2d5caf5d1a7d4baa3acc9e8d3d0b1edd1ddcfb5bacdcee8cca8b5bcd1ddcfb5a1a3'.replaceAll(
    ' ',
    '',
  ),
  'hex',
)

function swapped(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16()
}

function western(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}

type Row = [name: string, bytes: Uint8Array, text: string]

describe('decodeText', () => {
  test.each<Row>([
    ['UTF-8', Buffer.from('Grüße, 世界 😉'), 'Grüße, 世界 😉'],
    ['UTF-8 with a byte order mark', Buffer.from('\ufeffGrüße'), 'Grüße'],
    ['UTF-16LE with a byte order mark', Buffer.from('\ufeff世界', 'utf16le'), '世界'],
    ['UTF-16BE with a byte order mark', swapped('\ufeff世界'), '世界'],
    ['UTF-16LE without one', Buffer.from('plain words', 'utf16le'), 'plain words'],
    ['UTF-16BE without one', swapped('plain words'), 'plain words'],
    ['UTF-16LE of Cyrillic', Buffer.from('Маяк стоит на скале.', 'utf16le'), 'Маяк стоит на скале.'],
    ['UTF-16BE of Greek', swapped('Ο φάρος στέκει στον βράχο.'), 'Ο φάρος στέκει στον βράχο.'],
    ['GB 18030', chineseBytes, chinese],
    ['windows-1252', Buffer.from('Gr\xfc\xdfe aus K\xf6ln \x96 \x80 5', 'latin1'), 'Grüße aus Köln – € 5'],
    ['windows-1252 with a single accent', Buffer.from('caf\xe9', 'latin1'), 'café'],
    ['windows-1252 that could be Chinese', Buffer.from('f\xfcr K\xe4se', 'latin1'), 'für Käse'],
    ['windows-1252 with letters side by side', Buffer.from('das gr\xf6\xdfte', 'latin1'), 'das größte'],
    ['windows-1252 with letters alone', Buffer.from('\xc4 \xd6 \xdc, \xe0 la', 'latin1'), 'Ä Ö Ü, à la'],
    ['windows-1252 with quotes alone', Buffer.from('it\x92s \x93fine\x94', 'latin1'), 'it’s “fine”'],
    ['windows-1252 with leaders', western(`Größe ${'·'.repeat(41)} 3`), `Größe ${'·'.repeat(41)} 3`],
    ['windows-1252 with rules', western(`${'°'.repeat(60)}\nHöhe`), `${'°'.repeat(60)}\nHöhe`],
    ['windows-1252 with crosses', western(`${'×'.repeat(60)}\nHöhe`), `${'×'.repeat(60)}\nHöhe`],
    ['ASCII', Buffer.from('plain'), 'plain'],
    ...legacyTexts.map(({ encoding, bytes, text }): Row => [`${encoding}, a sentence`, bytes, text]),
    ...shortLegacyTexts.map(({ encoding, bytes, text }): Row => [`${encoding}: ${text}`, bytes, text]),
    ['windows-1252 of prices', Buffer.from('12,50 \x80\n3,10 \x80\n', 'latin1'), '12,50 €\n3,10 €\n'],
  ])('reads %s', (_name, bytes, text) => {
    expect(decodeText(bytes)).toBe(text)
  })

  test('keeps UTF-8 where a few bytes are broken', () => {
    const bytes = Buffer.concat([Buffer.from('Grüße '.repeat(50)), Buffer.from([0xff])])
    expect(decodeText(bytes)).toBe(`${'Grüße '.repeat(50)}\ufffd`)
  })

  test('looks for evidence where it is, and past what is cut or broken', () => {
    for (const { encoding, bytes, text } of legacyTexts) {
      const long = Buffer.concat([Buffer.from('x,'.repeat(50_000)), ...Array(2000).fill(bytes)])
      expect(decodeText(long).slice(100_000), encoding).toBe(text.repeat(2000))
      const broken = Buffer.concat([...Array(20).fill(bytes), Buffer.from([0xff])])
      expect(decodeText(broken), encoding).toContain(text.repeat(20))
    }
  })

  test('keeps text that holds a stray zero byte', () => {
    expect(decodeText(Buffer.from(`${'words '.repeat(500)}\0`))).toBe(`${'words '.repeat(500)}\0`)
  })

  test('makes every line break the same', () => {
    expect(decodeText(Buffer.from('a\r\nb\rc\nd'))).toBe('a\nb\nc\nd')
  })

  test.each([
    ['a name in GB 18030', 'd5c5ceb0'],
    ['another one', 'c0eee4c8'],
    ['half-width katakana', 'b1b2b3b4b5b6'],
  ])('refuses what could be several things: %s', (_name, hex) => {
    const bytes = Buffer.from(hex, 'hex')
    expect(() => decodeText(bytes)).toThrow(/encoding of this file cannot be told/)
    expect(() => decodeText(Buffer.concat([Buffer.from('id;1\n'), bytes]))).toThrow(UnreadableDocument)
  })

  test('refuses binary data', () => {
    const bytes = Uint8Array.from({ length: 1000 }, (_, index) => (index * 37) % 256)
    expect(() => decodeText(bytes)).toThrow(UnreadableDocument)
    const numbers = Uint16Array.from({ length: 1000 }, (_, index) => (index * 7) % 600)
    expect(() => decodeText(new Uint8Array(numbers.buffer))).toThrow(UnreadableDocument)
    const controls = `${'\u0001\u0002 words '.repeat(50)}`
    expect(() => decodeText(Buffer.from(controls))).toThrow(/holds binary data/)
    expect(() => decodeText(Buffer.from('\ue001\ue002\ue003'.repeat(50)))).toThrow(/holds binary data/)
  })
})
