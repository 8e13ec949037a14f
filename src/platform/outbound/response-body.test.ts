import { describe, expect, it } from 'vitest'
import { decodeText, readBody } from './response-body.ts'

async function* pieces(...sizes: number[]): AsyncGenerator<Uint8Array> {
  for (const size of sizes) yield new Uint8Array(size).fill(size)
}

describe('readBody', () => {
  it('joins the pieces in order', async () => {
    expect(await readBody(pieces(1, 3, 2), 100)).toEqual(new Uint8Array([1, 3, 3, 3, 2, 2]))
  })

  it('takes no body for an empty one', async () => {
    expect(await readBody(null, 100)).toEqual(new Uint8Array())
  })

  it.each([
    [[5, 5], 10, 10],
    [[5, 6], 10, undefined],
    [[11], 10, undefined],
    [[1], 0, undefined],
  ])('of %j with a limit of %i has %s bytes', async (sizes, limit, length) => {
    expect((await readBody(pieces(...sizes), limit))?.byteLength).toBe(length)
  })

  it('leaves the rest unread once the limit is passed', async () => {
    let given = 0
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        given += 1
        yield new Uint8Array(4)
      }
    }
    await readBody(endless(), 10)
    expect(given).toBe(3)
  })

  it('gives bytes that can be handed to another thread', async () => {
    const body = await readBody(pieces(3), 100)
    const moved = body && structuredClone(body, { transfer: [body.buffer] })
    expect(moved).toEqual(new Uint8Array([3, 3, 3]))
  })
})

describe('decodeText', () => {
  it.each([
    ['text/html; charset=ISO-8859-1', [0xe9], 'é'],
    ['text/html;charset="windows-1252"; x=y', [0x80], '€'],
    ['text/html; charset=shift_jis', [0x82, 0xa0], 'あ'],
    ['text/html; charset=utf-8', [0xc3, 0xa9], 'é'],
    ['text/html; charset=nonsense', [0xc3, 0xa9], 'é'],
    ['text/html', [0xc3, 0xa9], 'é'],
    [null, [0xc3, 0xa9], 'é'],
  ])('reads %s', (contentType, bytes, text) => {
    expect(decodeText(new Uint8Array(bytes), contentType)).toBe(text)
  })
})
