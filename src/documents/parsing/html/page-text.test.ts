import { expect, test } from 'vitest'
import { pageText } from './page-text.ts'

const bytes = (text: string) => Buffer.from(text, 'latin1')

test.each([
  [
    'a byte order mark before the header',
    '\xef\xbb\xbfcaf\xc3\xa9',
    'text/html; charset=windows-1252',
    'café',
  ],
  ['one of UTF-16', '\xff\xfet\0e\0a\0', 'text/html; charset=utf-8', 'tea'],
  [
    'the header before the page',
    '<meta charset="utf-8">\xe9',
    'text/html; charset="ISO-8859-1"',
    '<meta charset="utf-8">é',
  ],
  ['a quoted header', '\xe9', "text/html; charset='windows-1252'", 'é'],
  [
    'the page where the header tells nonsense',
    '<meta charset="windows-1251">\xe9',
    'text/html; charset=nonsense',
    '<meta charset="windows-1251">й',
  ],
  [
    'the declaration of XML',
    '<?xml version="1.0" encoding="Shift_JIS"?>\x83e',
    'application/xhtml+xml',
    '<?xml version="1.0" encoding="Shift_JIS"?>テ',
  ],
  [
    'no UTF-16 that is declared in ASCII',
    '<meta charset="utf-16le">\xc3\xa9',
    'text/html',
    '<meta charset="utf-16le">é',
  ],
])('takes %s', (_, body, contentType, text) => {
  expect(pageText(bytes(body), contentType)).toBe(text)
})

test('is not made of binary data', () => {
  expect(pageText(Buffer.alloc(5_000), 'text/html')).toBeUndefined()
})
