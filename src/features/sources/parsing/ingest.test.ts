import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createLog } from '#platform/log.ts'
import type { WorkerPool } from '#platform/workers/worker-pool.ts'
import { createWorkerPool } from '#platform/workers/worker-pool.ts'
import { makePdf, makePdfBomb } from '#test/support/documents.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import { defaultChunking } from '../chunking/chunking-options.ts'
import type { DocumentFormat } from './document-format.ts'
import { createIngest } from './ingest.ts'
import type { StoredFile } from './ingest.worker.ts'

const log = createLog('silent')
const pools: WorkerPool[] = []

afterAll(async () => {
  for (const pool of pools) await pool.close()
})

function pool(memoryLimitMb?: number): WorkerPool {
  const made = createWorkerPool({ log, ...(memoryLimitMb === undefined ? {} : { memoryLimitMb }) })
  pools.push(made)
  return made
}

const ingest = createIngest({ workers: pool() })

function stored(format: DocumentFormat, bytes: string | Uint8Array): StoredFile {
  const path = join(temporaryDirectory(), 'stored')
  writeFileSync(path, bytes)
  return { path, format, chunking: defaultChunking }
}

test('a file becomes chunks that say where they stand', async () => {
  const pdf = makePdf(['Tea is green.', 'Milk is white.'], { outline: [{ title: 'Milk', page: 2 }] })
  const read = await ingest.file(stored('pdf', pdf))
  expect(read).toEqual({
    kind: 'parsed',
    characters: 31,
    chunks: [
      { content: 'Tea is green.', start: 0, end: 13, page: 1, section: null },
      { content: 'Milk is white.', start: 15, end: 29, page: 2, section: 'Milk' },
    ],
  })
})

test('a file that holds nothing to read is an answer, not an error', async () => {
  const read = await ingest.file(stored('pdf', 'no pdf'))
  expect(read).toEqual({ kind: 'unreadable', reason: 'This file is damaged or not a PDF.' })
})

test('a file that is gone is an error', async () => {
  const gone = { ...stored('txt', ''), path: '/nowhere/at/all' }
  await expect(ingest.file(gone)).rejects.toThrow('ENOENT')
})

test('a file that takes too much memory is given up, and the next one is read', async () => {
  const small = createIngest({ workers: pool(48) })
  const bomb = await small.file(stored('pdf', makePdfBomb(150_000_000)))
  expect(bomb).toEqual({ kind: 'unreadable', reason: expect.stringMatching(/too much memory/) })
  expect(await small.file(stored('txt', 'next'))).toMatchObject({ kind: 'parsed' })
})

test('a file that takes too much time is given up', async () => {
  const hasty = createIngest({ workers: pool(), fileMs: 1 })
  const read = await hasty.file(stored('txt', 'slow to come'))
  expect(read).toEqual({ kind: 'unreadable', reason: expect.stringMatching(/too much time/) })
})

test('a deleted source stops its reading', async () => {
  const deletion = new AbortController()
  const read = ingest.file(stored('pdf', makePdfBomb(50_000_000)), deletion.signal)
  deletion.abort(new Error('deleted'))
  await expect(read).rejects.toThrow('deleted')
})

test('a page becomes markdown, and one that takes too long nothing', async () => {
  const page = { html: '<title>T</title><p>Hello <a href="/a">you</a></p>', url: 'http://a.example/b' }
  expect(await ingest.page(page)).toEqual({ title: 'T', markdown: 'Hello [you](http://a.example/a)' })
  expect(await createIngest({ workers: pool(), pageMs: 1 }).page(page)).toBeUndefined()
})
