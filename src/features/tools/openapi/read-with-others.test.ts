import { afterEach, describe, expect, it, vi } from 'vitest'
import type { ImportedDocument } from './imported-document.ts'
import { limits } from './limits.ts'
import type { OtherDocuments } from './other-documents.ts'
import { readWithOthers } from './read-with-others.ts'

const document = { text: '{}', documentUrl: 'https://api.example.com/openapi.json' }
const urls = Array.from({ length: 3 * limits.othersAtOnce }, (_, at) => `https://api.example.com/${at}.json`)

/** Reads a document that refers to all of `urls`; `answer` is called for each that is requested. */
async function gather(answer: () => Uint8Array<ArrayBuffer>) {
  const requested: string[] = []
  let known: OtherDocuments = new Map()
  await readWithOthers(
    {
      async read({ others = new Map() }) {
        known = others
        const missing = urls.filter(url => !others.has(url))
        return { missing } as unknown as ImportedDocument
      },
      outbound: {
        async fetch(url) {
          requested.push(String(url))
          const body = answer()
          return { status: 200, headers: new Headers(), url: String(url), body, text: () => '{}' }
        },
      },
    },
    document,
    new AbortController().signal,
  )
  return { requested, known }
}

describe('the documents that a document refers to', () => {
  afterEach(() => vi.restoreAllMocks())

  it('are no longer requested once their bytes are used up', async () => {
    const { requested, known } = await gather(() => new Uint8Array(limits.otherBytes / 4))
    expect(requested).toEqual(urls.slice(0, limits.othersAtOnce))
    expect(known.get(urls.at(-1) ?? '')).toEqual({ problem: expect.stringContaining('10 MB') })
  })

  it('are no longer requested once their time is over, even of those found missing before', async () => {
    const deadline = new AbortController()
    vi.spyOn(AbortSignal, 'timeout').mockReturnValue(deadline.signal)
    const { requested } = await gather(() => {
      deadline.abort()
      return new Uint8Array(2)
    })
    expect(requested).toEqual(urls.slice(0, limits.othersAtOnce))
  })
})
