import { expect, onTestFinished, test } from 'vitest'
import { createLog } from '#platform/log.ts'
import { createWorkerPool } from '#platform/workers/worker-pool.ts'
import { createPageReader } from './page-reader.service.ts'

const page = { html: '<title>T</title><p>Hello <a href="/a">you</a></p>', url: 'http://a.example/b' }

function openPool() {
  const pool = createWorkerPool({ log: createLog('silent') })
  onTestFinished(() => pool.close())
  return pool
}

test('a page becomes markdown', async () => {
  const { signal } = new AbortController()
  const read = createPageReader(openPool())(page, signal)
  expect(await read).toEqual({ title: 'T', markdown: 'Hello [you](http://a.example/a)' })
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
