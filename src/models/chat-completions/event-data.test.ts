import { describe, expect, test, vi } from 'vitest'
import { UnreadableAnswer } from './call-failure.ts'
import { createEventData, type StreamEvent } from './event-data.ts'

function eventsIn(...pieces: (string | Uint8Array)[]): StreamEvent[] {
  const reader = createEventData()
  const events = pieces.flatMap(piece =>
    reader.read(typeof piece === 'string' ? new TextEncoder().encode(piece) : piece),
  )
  return [...events, ...reader.end()]
}

const dataOf = (events: StreamEvent[]) => events.map(({ data }) => data)
const read = (...pieces: (string | Uint8Array)[]) => dataOf(eventsIn(...pieces))

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
    ['lines that end with CR', 'data: 1\r\rdata: 2\rdata: 3\r\r', ['1', '2\n3']],
    ['line ends of all kinds', 'data: 1\r\n\rdata: 2\n\r\ndata: 3\r\n\n', ['1', '2', '3']],
    ['a field without a colon', 'data\n\ndata\ndata\n\n', ['', '\n']],
    ['names that only begin like a field', 'dataset: 1\nDATA: 2\n data: 3\ndata : 4\n\n', []],
    ['a byte order mark before the first line', '\uFEFFdata: 1\n\ndata: \uFEFF2\n\n', ['1', '\uFEFF2']],
  ])('%s', (_, text, expected) => expect(read(text)).toEqual(expected))

  test.each<[string, string, StreamEvent[]]>(
    [
      [
        'a type',
        'event: ping\ndata: 1\n\ndata: 2\n\n',
        [
          ['ping', '1'],
          ['message', '2'],
        ],
      ],
      ['the last type of several', 'event: a\nevent:b\ndata: 1\n\n', [['b', '1']]],
      [
        'an empty type',
        'event\ndata: 1\n\nevent:\ndata: 2\n\n',
        [
          ['message', '1'],
          ['message', '2'],
        ],
      ],
      ['a type without data', 'event: ping\n\ndata: 1\n\n', [['message', '1']]],
      [
        'an error as a field',
        'data: 1\n\nerror: {"code":1}\n\n',
        [
          ['message', '1'],
          ['error', '{"code":1}'],
        ],
      ],
      ['JSON in place of a stream', '\n  \n {\n  "data": 1\n}\n', [['document', ' {\n  "data": 1\n}']]],
      ['JSON on one line', '{"error":1}', [['document', '{"error":1}']]],
      [
        'JSON among events',
        'data: 1\n\n[{"error":\n1}]\n\ndata: 2\n\n',
        [
          ['message', '1'],
          ['document', '[{"error":\n1}]'],
          ['message', '2'],
        ],
      ],
    ].map(([name, text, events]) => [
      String(name),
      String(text),
      (events as string[][]).map(([type = '', data = '']) => ({ type, data })),
    ]),
  )('may have %s', (_, text, expected) => expect(eventsIn(text)).toEqual(expected))

  test('is the same however the bytes are torn apart', () => {
    const bytes = new TextEncoder().encode('\uFEFFdata: {"t":"ü 🐵 中"}\r\n\r\n: c\r\rdata: 2\n\n')
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
    expect(dataOf(reader.read(Buffer.from('\ndata: 2')))).toEqual(['1'])
    expect(dataOf(reader.end())).toEqual(['2'])
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
      expect(dataOf(reader.read(Buffer.from(`${half}\r\n\r\n`)))).toEqual([`${half}${half}`])
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
