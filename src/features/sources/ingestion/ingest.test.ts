import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { defaultChunking } from '#documents/chunking/chunking-options.ts'
import type { DocumentFormat } from '#documents/parsing/document-format.ts'
import { continueDraft, countDraft } from '#features/knowledge/indexing/generations.ts'
import { createLog } from '#platform/logging/log.ts'
import { createWorkerPool, type WorkerPool } from '#platform/workers/worker-pool.ts'
import { makePdf, makePdfBomb } from '#test/support/documents.ts'
import { setSearchStage } from '#test/support/search-stage.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import type { StoredFile } from './draft.worker.ts'
import { createIngest, createIngestFetched } from './ingest.ts'

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

async function setIngestStage() {
  const { path: databasePath, addSource, db, attempt } = await setSearchStage()
  await addSource('manual')
  function stored(format: DocumentFormat, bytes: string | Uint8Array): StoredFile {
    const path = join(temporaryDirectory(), 'stored')
    writeFileSync(path, bytes)
    const target = { databasePath, sourceId: 'manual', attempt, draft: 'first', isBuiltin: true }
    return { ...target, location: { kind: 'directory', path }, format, chunking: defaultChunking }
  }
  const hasDraft = () => continueDraft(db, { sourceId: 'manual', attempt }, 'first')
  return { db, stored, hasDraft }
}

test('a file becomes a draft of chunks that say where they stand', async () => {
  const { db, stored, hasDraft } = await setIngestStage()
  const pdf = makePdf(['Tea is green.', 'Milk is white.'], { outline: [{ title: 'Milk', page: 2 }] })
  expect(await ingest(stored('pdf', pdf))).toEqual({ kind: 'drafted', chunks: 2 })
  const chunks = await db
    .selectFrom('chunks')
    .select(['content', 'start_offset', 'end_offset', 'page', 'section'])
    .orderBy('sequence')
    .execute()
  expect(chunks).toEqual([
    { content: 'Tea is green.', start_offset: 0, end_offset: 13, page: 1, section: null },
    { content: 'Milk is white.', start_offset: 15, end_offset: 29, page: 2, section: 'Milk' },
  ])
  expect(await hasDraft()).toBe(true)
})

test('what was fetched moves to the thread that reads it', async () => {
  const { stored } = await setIngestStage()
  const { location: _, format, ...task } = stored('txt', '')
  const bytes = new TextEncoder().encode('Tea is green.')
  const fetched = { bytes, format, contentType: 'text/plain', url: 'https://tea.example/' }
  const read = createIngestFetched({ workers: pool() })
  const { signal } = new AbortController()
  expect(await read({ ...task, fetched, secrets: [] }, signal)).toEqual({ kind: 'drafted', chunks: 1 })
  expect(bytes).toHaveLength(0)
})

describe('the chunks of a file', () => {
  test.each([
    ['that is small get built-in vectors at once', { isBuiltin: true }, 10, 10],
    ['that is large wait for them', { isBuiltin: true }, 600, 0],
    ["wait for a provider's", { isBuiltin: false }, 10, 0],
  ])('%s', async (_, target, count, indexed) => {
    const { db, stored } = await setIngestStage()
    const text = Array.from({ length: count }, (_, at) => `${'tea '.repeat(20)}${at}.`).join('\n\n')
    const chunking = { ...defaultChunking, chunk_size: 100, overlap: 0 }
    expect(await ingest({ ...stored('txt', text), ...target, chunking })).toEqual({
      kind: 'drafted',
      chunks: count,
    })
    expect(await countDraft(db, { sourceId: 'manual' })).toEqual({ stored: count, indexed })
  })
})

test('a file that holds nothing to read is an answer, not an error', async () => {
  const { stored, hasDraft } = await setIngestStage()
  const read = await ingest(stored('pdf', 'no pdf'))
  expect(read).toEqual({ kind: 'unreadable', reason: 'This file is damaged or not a PDF.' })
  expect(await hasDraft()).toBe(false)
})

test('a file that is gone is an answer, too', async () => {
  const { stored } = await setIngestStage()
  const location = { kind: 'directory' as const, path: '/nowhere/at/all' }
  const read = await ingest({ ...stored('txt', ''), location })
  expect(read).toEqual({ kind: 'unreadable', reason: 'The file of this source is missing.' })
})

test('a file that takes too much memory is given up, and the next one is read', async () => {
  const { stored } = await setIngestStage()
  const small = createIngest({ workers: pool(48) })
  const bomb = await small(stored('pdf', makePdfBomb(150_000_000)))
  expect(bomb).toEqual({ kind: 'unreadable', reason: expect.stringMatching(/too much memory/) })
  expect(await small(stored('txt', 'next'))).toMatchObject({ kind: 'drafted' })
})

test('a file that takes too much time is given up', async () => {
  const { stored } = await setIngestStage()
  const hasty = createIngest({ workers: pool(), timeoutMs: 1 })
  const read = await hasty(stored('txt', 'slow to come'))
  expect(read).toEqual({ kind: 'unreadable', reason: expect.stringMatching(/too much time/) })
})

test('a file that is nested too deeply for its reader is an answer, too', async () => {
  const { stored } = await setIngestStage()
  const outline = Array.from({ length: 10_000 }, () => ({ title: 'Tea', page: 1 }))
  const read = await ingest(stored('pdf', makePdf(['Tea is green.'], { outline, isNested: true })))
  expect(read).toEqual({ kind: 'unreadable', reason: 'This file is nested too deeply to be read.' })
})

test('a deleted source stops its reading', async () => {
  const { stored } = await setIngestStage()
  const deletion = new AbortController()
  const read = ingest(stored('pdf', makePdfBomb(50_000_000)), deletion.signal)
  deletion.abort(new Error('deleted'))
  await expect(read).rejects.toThrow('deleted')
})
