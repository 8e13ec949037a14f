import { expect, test } from 'vitest'
import { defaultChunking } from '#documents/chunking/chunking-options.ts'
import { AppError } from '#platform/errors.ts'
import { WorkerCrashed, type WorkerPool, WorkerTimeout } from '#platform/workers/worker-pool.ts'
import { createCrawlThreads } from './crawl-threads.ts'

const { signal } = new AbortController()
const page = {
  body: new Uint8Array(),
  contentType: '',
  robotsTag: '',
  url: 'http://x/',
  patterns: { include: [], exclude: [] },
  chunking: defaultChunking,
  isCut: false,
  repeated: '',
}

const threadsThat = (error: unknown) => {
  const pool: WorkerPool = { run: () => Promise.reject(error), close: async () => {} }
  return createCrawlThreads(pool)('default')
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

test('agents take turns, so that the pages of one do not hold up another', async () => {
  const begun: { url: string; end: () => void }[] = []
  const pool: WorkerPool = {
    run<Result>({ argument }: { argument: unknown }) {
      const { promise, resolve } = Promise.withResolvers<Result>()
      begun.push({ url: (argument as typeof page).url, end: () => resolve(undefined as Result) })
      return promise
    },
    close: async () => {},
  }
  const threads = createCrawlThreads(pool)
  const read = (agentId: string, url: string) => threads(agentId).readPage({ ...page, url }, signal)
  const all = [1, 2, 3, 4].map(at => read('one', `one ${at}`))
  all.push(read('other', 'other 1'), read('other', 'other 2'))
  await expect.poll(() => begun.map(({ url }) => url)).toEqual(['one 1', 'one 2', 'other 1'])
  begun[0]?.end()
  begun[1]?.end()
  await expect.poll(() => begun[3]?.url).toBe('one 3')
  begun[2]?.end()
  await expect.poll(() => begun[4]?.url).toBe('other 2')
  for (let at = 3; at < all.length; at += 1) {
    await expect.poll(() => begun[at]).toBeDefined()
    begun[at]?.end()
  }
  await Promise.all(all)
})

test('what an agent writes is one task at a time, which does not wait behind the pages that it reads', async () => {
  const begun: { name: string; end: () => void }[] = []
  const pool: WorkerPool = {
    run<Result>({ name }: { name: string }) {
      const { promise, resolve } = Promise.withResolvers<Result>()
      begun.push({ name, end: () => resolve(undefined as Result) })
      return promise
    },
    close: async () => {},
  }
  const threads = createCrawlThreads(pool)('one')
  const place = { databasePath: '', sourceId: '', attempt: '' }
  const read = [1, 2, 3, 4].map(() => threads.readPage({ ...page, body: new Uint8Array() }, signal))
  const written = [1, 2].map(() => threads.addPages({ ...place, pages: [] }, signal))
  const names = () => begun.map(({ name }) => name)
  await expect.poll(names).toEqual(['readPage', 'readPage', 'addPages'])
  begun[2]?.end()
  await expect.poll(names).toEqual(['readPage', 'readPage', 'addPages', 'addPages'])
  for (let at = 0; at < read.length + written.length; at += 1) {
    await expect.poll(() => begun[at]).toBeDefined()
    begun[at]?.end()
  }
  await Promise.all([...read, ...written])
})
