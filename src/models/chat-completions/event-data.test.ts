import { describe, expect, test, vi } from 'vitest'
import { UnreadableAnswer } from './call-failure.ts'
import { createEventData } from './event-data.ts'

function read(...pieces: (string | Uint8Array)[]): string[] {
  const reader = createEventData()
  const events = pieces.flatMap(piece =>
    reader.read(typeof piece === 'string' ? new TextEncoder().encode(piece) : piece),
  )
  return [...events, ...reader.end()]
}

describe('the data of events', () => {
  test.each([
    ['one event', 'data: {"a":1}\n\n', ['{"a":1}']],
    ['several in one piece', 'data: 1\n\ndata: 2\n\n', ['1', '2']],
    ['no space after the colon', 'data:1\n\ndata:  2\n\n', ['1', ' 2']],
    ['lines that end with CRLF', 'data: 1\r\n\r\ndata: 2\r\n\r\n', ['1', '2']],
    [
      'comments and other fields',
      ': ping\n\nevent: x\nid: 7\nretry: 5\ndata: 1\n: more\n\ndatax: 2\n\n',
      ['1'],
    ],
    ['several lines of data', 'data: {\ndata: "a":1}\n\n', ['{\n"a":1}']],
    ['blank lines alone', '\n\r\n\n', []],
    ['an empty line of data', 'data:\n\n', ['']],
    ['a last event without its blank line', 'data: 1\n\ndata: 2\n', ['1', '2']],
    ['a last event without its line end', 'data: 1\n\ndata: 2', ['1', '2']],
    ['a byte order mark before the first line', '\uFEFFdata: 1\n\ndata: \uFEFF2\n\n', ['1', '\uFEFF2']],
  ])('%s', (_, text, expected) => expect(read(text)).toEqual(expected))

  test('is the same however the bytes are torn apart', () => {
    const bytes = new TextEncoder().encode('data: {"t":"ü 🐵 中"}\r\n\r\n: c\n\ndata: 2\n\n')
    for (let size = 1; size <= bytes.length; size += 1) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      )
      expect(read(...pieces)).toEqual(['{"t":"ü 🐵 中"}', '2'])
    }
  })

  test('may begin with a byte order mark in any piece but the first', () => {
    expect(read('data: a', '\uFEFFb\n\n')).toEqual(['a\uFEFFb'])
  })

  test('comes as soon as its event is complete', () => {
    const reader = createEventData()
    expect(reader.read(Buffer.from('data: 1\n'))).toEqual([])
    expect(reader.read(Buffer.from('\ndata: 2'))).toEqual(['1'])
    expect(reader.end()).toEqual(['2'])
  })

  test('a line without end is not gathered for ever', () => {
    const reader = createEventData()
    const piece = Buffer.alloc(1_000_000, 'x')
    expect(() => {
      for (let count = 0; count < 10; count += 1) reader.read(piece)
    }).toThrow(UnreadableAnswer)
  })

  test('so is an event of very many lines, however little they say', () => {
    const reader = createEventData()
    const piece = Buffer.from('data:\n'.repeat(10_000))
    expect(() => {
      for (let count = 0; count < 100; count += 1) reader.read(piece)
    }).toThrow(UnreadableAnswer)
  })

  test('events after one another may be longer together than one may be', () => {
    const reader = createEventData()
    const half = 'x'.repeat(500_000)
    for (let count = 0; count < 10; count += 1) {
      expect(reader.read(Buffer.from(`data: ${half}`))).toEqual([])
      expect(reader.read(Buffer.from(`${half}\r\n\r\n`))).toEqual([`${half}${half}`])
    }
  })

  test('a long line is searched for its end once, however small the pieces it comes in', () => {
    const searched = vi.spyOn(String.prototype, 'indexOf')
    const reader = createEventData()
    const piece = Buffer.from('x')
    for (let count = 0; count < 1000; count += 1) reader.read(piece)
    const longest = Math.max(...searched.mock.contexts.map(text => String(text).length))
    searched.mockRestore()
    expect(longest).toBe(1)
  })
})
