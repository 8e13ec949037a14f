import { expect, test } from 'vitest'
import { AppError } from '#platform/errors.ts'
import type { WorkerPool } from '#platform/workers/worker-pool.ts'
import { WorkerCrashed, WorkerTimeout } from '#platform/workers/worker-pool.ts'
import { createCrawlThreads } from './crawl-threads.ts'

const { signal } = new AbortController()
const page = {
  body: new Uint8Array(),
  contentType: '',
  url: 'http://x/',
  patterns: { include: [], exclude: [] },
}

const threadsThat = (error: unknown) => {
  const pool: WorkerPool = { run: () => Promise.reject(error), close: async () => {} }
  return createCrawlThreads(pool)
}

test.each([new WorkerTimeout(1), new WorkerCrashed('out of memory'), new RangeError('Maximum call stack')])(
  'a text that its reader fails at is the loss of that text alone: %s',
  async error => {
    const threads = threadsThat(error)
    expect(await threads.readPage(page, signal)).toBeUndefined()
    expect(await threads.readSitemap({ ...page, startUrl: page.url }, signal)).toBeUndefined()
    const robots = { kind: 'text' as const, url: 'http://x/robots.txt', text: '' }
    expect(await threads.allowed(robots, ['http://x/a'], signal)).toEqual([false])
  },
)

test('an end of the service, or of the job, is no fault of a text', async () => {
  const ending = new AppError('SHUTTING_DOWN', 'The server is shutting down.')
  await expect(threadsThat(ending).readPage(page, signal)).rejects.toBe(ending)
  const aborted = AbortSignal.abort(new Error('cancelled'))
  await expect(threadsThat(aborted.reason).readPage(page, aborted)).rejects.toThrow('cancelled')
})
