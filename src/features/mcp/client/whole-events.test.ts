import { describe, expect, it } from 'vitest'
import { type StreamEnd, wholeEvents } from './whole-events.ts'

const bounds = { maxEventBytes: 20, maxStreamBytes: 100, maxValues: 4 }

async function read(pieces: (string | Error)[], words?: (end: StreamEnd, isResumable: boolean) => string) {
  const seen: string[] = []
  async function* source() {
    for (const piece of pieces) {
      if (piece instanceof Error) throw piece
      yield Buffer.from(piece)
    }
  }
  for await (const events of wholeEvents(source(), bounds, words ?? (() => undefined)))
    seen.push(Buffer.from(events).toString())
  return seen
}

describe('an event stream', () => {
  it.each([
    [['data: a\n\n'], ['data: a\n\n']],
    [
      ['data: a', '\n', '\n', 'data: b\n\n'],
      ['data: a\n\n', 'data: b\n\n'],
    ],
    [['a\n\nb\n\nc'], ['a\n\nb\n\n']],
    [
      ['a\r\n\r\nb', '\r\n\r\n'],
      ['a\r\n\r', '\nb\r\n\r'],
    ],
    [['a\r', '\n\r', '\n'], ['a\r\n\r']],
    [['a\r\rb\r\r'], ['a\r\rb\r\r']],
    [['never ends'], []],
    [[], []],
  ])('%j comes event by event', async (pieces, events) => {
    expect(await read(pieces)).toEqual(events)
  })

  it('ends where an event, or all of them, are too large', async () => {
    const words = (end: StreamEnd) => end
    expect(await read(['data: a\n\n', 'x'.repeat(15), 'y'.repeat(15)], words)).toEqual([
      'data: a\n\n',
      'too large',
    ])
    expect((await read(Array(20).fill('data: a\n\n'), words)).at(-1)).toBe('too large')
    expect((await read(['data: [1,2]\n\n', 'data: [1,2,3,4]\n\n'], words)).at(-1)).toBe('too large')
    await expect(read(['x'.repeat(30)])).rejects.toThrow('too large')
  })

  it('says last whether it can be resumed, and how it ended', async () => {
    const words = (end: StreamEnd, isResumable: boolean) => `${end} ${isResumable}`
    expect((await read(['id: 1\ndata: a\n\n'], words)).at(-1)).toBe('ended true')
    expect((await read(['data: id:\n\n'], words)).at(-1)).toBe('ended false')
    expect((await read(['data: a\nid: 1\n\n', new Error('broke')], words)).at(-1)).toBe('broken true')
    await expect(read([new Error('broke')])).rejects.toThrow('broke')
  })
})
