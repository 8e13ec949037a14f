import { expect, onTestFinished, test } from 'vitest'
import { createLog } from '#platform/logging/log.ts'
import { createWorkerPool } from '#platform/workers/worker-pool.ts'
import { createPageReader } from './page-reader.service.ts'

const html = '<title>T</title><p>Hello <a href="/a">you</a></p>'
const page = { body: Buffer.from(html), contentType: 'text/html', url: 'http://a.example/b' }

function openPool() {
  const pool = createWorkerPool({ log: createLog('silent') })
  onTestFinished(() => pool.close())
  return pool
}

test('a page becomes markdown', async () => {
  const { signal } = new AbortController()
  const read = createPageReader(openPool())(page, signal)
  expect(await read).toEqual({ title: 'T', markdown: 'Hello [you](http://a.example/a)', isShell: false })
})

test.each<[string, Uint8Array]>([
  ['its byte order mark', Buffer.from('\ufeff<p>für Käse</p>', 'utf16le')],
  ['what it declares', Buffer.from('<meta charset="iso-8859-1"><p>f\xfcr K\xe4se</p>', 'latin1')],
  ['evidence', Buffer.from('<p>f\xfcr K\xe4se</p>', 'latin1')],
])('a page is read in the character set that is known by %s', async (_, body) => {
  const { signal } = new AbortController()
  const { markdown } = await createPageReader(openPool())({ ...page, body }, signal)
  expect(markdown).toBe('für Käse')
})

test.each<[string, string, Uint8Array]>([
  ['a text', 'text/plain', Buffer.from('f\xfcr <K\xe4se>', 'latin1')],
  ['a feed', 'application/rss+xml', Buffer.from('<?xml encoding="iso-8859-1"?>f\xfcr <K\xe4se>', 'latin1')],
])('%s is read in its character set, too, and stays as it is', async (_, contentType, body) => {
  const { signal } = new AbortController()
  const read = await createPageReader(openPool())({ ...page, body, contentType }, signal)
  expect(read).toEqual({ title: '', markdown: expect.stringMatching(/für <Käse>$/), isShell: false })
})

test('what is no text is told from a page', async () => {
  const body = Uint8Array.from({ length: 1000 }, (_, index) => (index * 37) % 256)
  const { signal } = new AbortController()
  const read = createPageReader(openPool())({ ...page, body }, signal)
  await expect(read).rejects.toMatchObject({
    code: 'OUTBOUND_FAILED',
    message: expect.stringMatching(/not text/),
  })
})

test('a page that takes too long is given up with a sentence for the caller', async () => {
  const { signal } = new AbortController()
  const read = createPageReader(openPool(), 1)(page, signal)
  await expect(read).rejects.toMatchObject({
    code: 'OUTBOUND_FAILED',
    message: expect.stringMatching(/too much time/),
  })
})

test('a caller who leaves gets their own reason', async () => {
  const stop = new AbortController()
  const read = createPageReader(openPool())(page, stop.signal)
  stop.abort(new Error('gone'))
  await expect(read).rejects.toThrow('gone')
})
