import { setImmediate } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { createLog } from '#platform/logging/log.ts'
import { createWorkerPool } from '#platform/workers/worker-pool.ts'
import { makeOpenApiDocument } from '#test/support/openapi-document.ts'
import { createOpenApiReader } from './openapi-reader.ts'
import { readOpenApi } from './read-openapi.ts'

const workers = createWorkerPool({ log: createLog('silent') })
const document = makeOpenApiDocument('https://shop.example.com')
const read = createOpenApiReader(workers)

afterAll(() => workers.close())

test('a thread gives what the function gives', async () => {
  expect(await read({ document })).toEqual(readOpenApi({ document }))
  const text = JSON.stringify(document)
  expect(await read({ text, documentUrl: 'https://a.example.com' })).toEqual(readOpenApi({ text }))
})

test('a refusal keeps its code and field', async () => {
  const refusal = {
    code: 'VALIDATION_ERROR',
    details: { field: 'url', issue: expect.stringMatching(/Swagger 2\.0/) },
  }
  await expect(read({ text: '{"swagger": "2.0"}' })).rejects.toMatchObject(refusal)
})

test('a document that takes too long is given up', async () => {
  const impatient = createOpenApiReader(workers, 1)
  const text = `openapi: 3.0.0\nx:\n${' - {a: [1, 2, 3]}\n'.repeat(20_000)}`
  await expect(impatient({ text })).rejects.toThrow(/spec|url: This document takes too much time or memory/)
})

test('the signal of the caller ends it', async () => {
  const controller = new AbortController()
  const reading = read({ document }, controller.signal)
  await setImmediate()
  controller.abort(new Error('gone'))
  await expect(reading).rejects.toThrow('gone')
})
