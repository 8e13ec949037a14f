import { createWriteStream, existsSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { type BareServer, bareServer, plainRoute } from '#test/support/bare-server.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import { formOf } from '#test/support/upload.ts'
import { AppError } from '../../errors.ts'
import { acceptForms, type Form, readForm } from './multipart.ts'

const maxBytes = 1000
let path: string
let store: (content: Readable) => Promise<void>
let server: BareServer
/** Resolves once a form was not accepted and its file is gone. */
let discarded: PromiseWithResolvers<void>

beforeEach(async () => {
  discarded = Promise.withResolvers()
  path = join(temporaryDirectory(), 'upload')
  store = content => pipeline(content, createWriteStream(path))
  server = await bareServer({
    routes: app => {
      app.decorateRequest('requireAccess', async () => {})
      void app.register((scope, _options, done) => {
        acceptForms(scope)
        scope.route({
          method: 'POST',
          url: '/api/forms',
          config: plainRoute,
          handler: request =>
            readForm(request, {
              file: {
                store: content => store(content),
                discard: () => rm(path, { force: true }).finally(discarded.resolve),
              },
              maxBytes,
              acceptName(name) {
                if (name.endsWith('.exe')) throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'No programs.')
              },
              signal: new AbortController().signal,
            }),
        })
        done()
      })
      app.route({ method: 'POST', url: '/api/json', config: plainRoute, handler: async () => ({}) })
    },
  })
})

type Parts = Parameters<typeof formOf>[0]

async function send(parts: Parts, url = '/api/forms') {
  return server.call({ method: 'POST', url, ...(await formOf(parts)) })
}

function sendRaw(payload: string, type = 'multipart/form-data; boundary=b') {
  return server.call({ method: 'POST', url: '/api/forms', payload, headers: { 'content-type': type } })
}

const part = (head: string, body: string) =>
  `--b\r\ncontent-disposition: form-data; ${head}\r\n\r\n${body}\r\n`
const file = (name: string, content = 'Hello', type = 'text/plain') => new File([content], name, { type })

describe('a form', () => {
  it.each<[order: string, parts: Parts]>([
    [
      'the file last',
      [
        ['a', '1'],
        ['b', 'zwei'],
        ['file', file('x.txt')],
      ],
    ],
    [
      'the file first',
      [
        ['file', file('x.txt')],
        ['a', '1'],
        ['b', 'zwei'],
      ],
    ],
    [
      'the file between',
      [
        ['a', '1'],
        ['file', file('x.txt')],
        ['b', 'zwei'],
      ],
    ],
  ])('may have its parts in any order: %s', async (_order, parts) => {
    const answer = await send(parts)
    expect(answer.json<Form>()).toEqual({
      fields: { a: '1', b: 'zwei' },
      file: { field: 'file', name: 'x.txt', bytes: 5 },
    })
    expect(readFileSync(path, 'utf8')).toBe('Hello')
  })

  it('may have no file, or nothing at all', async () => {
    expect((await send([['a', '1']])).json()).toEqual({ fields: { a: '1' } })
    expect((await sendRaw('')).json()).toEqual({ fields: {} })
    expect(existsSync(path)).toBe(false)
  })

  it('keeps the last of equal fields, and one that is declared as JSON as text', async () => {
    const body = part('name="size"', '1') + part('name="size"\r\ncontent-type: application/json', '500')
    expect((await sendRaw(`${body}--b--\r\n`)).json()).toEqual({ fields: { size: '500' } })
  })

  it('is taken only where forms are', async () => {
    expect((await send([['a', '1']], '/api/json')).statusCode).toBe(415)
    const json = { 'content-type': 'application/json' }
    const answer = await server.call({
      method: 'POST',
      url: '/api/forms',
      payload: '{"file":"/etc/passwd"}',
      headers: json,
    })
    expect(answer.statusCode).toBe(415)
    expect(answer.json()).toMatchObject({ error: { message: 'Send this request as multipart/form-data.' } })
  })
})

describe('a file', () => {
  it('goes where we put it, whatever its name says', async () => {
    const answer = await send([['file', file('../../etc/passwd.txt')]])
    expect(answer.statusCode).toBe(200)
    expect(answer.json<Form>().file?.name).toBe('passwd.txt')
    expect(readFileSync(path, 'utf8')).toBe('Hello')
  })

  it('may be as large as is accepted, and not a byte larger', async () => {
    expect((await send([['file', file('x.txt', 'x'.repeat(maxBytes))]])).json<Form>().file?.bytes).toBe(
      maxBytes,
    )
    for (const tooMuch of [maxBytes + 1, 300_000]) {
      const answer = await send([
        ['file', file('x.txt', 'x'.repeat(tooMuch))],
        ['after', '1'],
      ])
      expect(answer.statusCode).toBe(413)
      expect(answer.json()).toMatchObject({
        error: { code: 'PAYLOAD_TOO_LARGE', message: expect.stringContaining('1000 bytes') },
      })
      expect(existsSync(path)).toBe(false)
    }
  })

  it.each<[what: string, parts: Parts, status: number, message: string]>([
    ['is empty', [['file', file('x.txt', '')]], 400, 'file: is empty'],
    ['is of a kind that is not wanted', [['file', file('x.exe')]], 415, 'No programs.'],
    [
      'is one of two',
      [
        ['file', file('x.txt')],
        ['file', file('y.txt')],
      ],
      400,
      'Send one file at a time.',
    ],
  ])('is refused and leaves nothing behind when it %s', async (_what, parts, status, message) => {
    const answer = await send(parts)
    expect(answer.statusCode).toBe(status)
    expect(answer.json().error.message).toContain(message)
    expect(existsSync(path)).toBe(false)
  })
})

it('a file that cannot be stored is no fault of the form', async () => {
  store = async () => {
    throw new Error('the connection to the database was lost')
  }
  const answer = await send([['file', file('x.txt')]])
  expect(answer.statusCode).toBe(500)
  expect(answer.json().error).toMatchObject({
    code: 'INTERNAL_ERROR',
    message: expect.stringContaining('The file could not be stored.'),
  })
})

it('bytes without a name are refused', async () => {
  const bytes = part('name="file"\r\ncontent-type: application/octet-stream', 'Hello')
  const answer = await sendRaw(`${bytes}--b--\r\n`)
  expect(answer.statusCode).toBe(400)
  expect(answer.json()).toMatchObject({ error: { details: { field: 'file', issue: 'has no file name' } } })
})

describe('a form that is wrong', () => {
  const upload = part('name="file"; filename="x.txt"', 'Hello')
  const malformed = 'The form is malformed'
  it.each([
    ['names no boundary', `${upload}--b--\r\n`, 'multipart/form-data', malformed],
    ['names another boundary', `${upload}--b--\r\n`, 'multipart/form-data; boundary=other', malformed],
    ['has no boundary inside', 'just text', undefined, malformed],
    ['ends within a file', upload, undefined, malformed],
    ['ends within the head of a part', '--b\r\ncontent-disposition: form-da', undefined, malformed],
    [
      'has a field of the prototype',
      `${part('name="__proto__"', '1')}--b--\r\n`,
      undefined,
      'forbidden name',
    ],
    ['has a field of every object', `${part('name="toString"', '1')}--b--\r\n`, undefined, 'forbidden name'],
    [
      'has a file of the prototype',
      `${part('name="__proto__"; filename="x.txt"', '1')}--b--\r\n`,
      undefined,
      'forbidden name',
    ],
    ['has too many fields', `${part('name="f"', '1').repeat(51)}--b--\r\n`, undefined, 'too many'],
    ['has far too many parts', `${part('name="f"', '1').repeat(500)}--b--\r\n`, undefined, 'too many'],
    [
      'says JSON and is none',
      `${part('name="f"\r\ncontent-type: application/json', '{')}--b--\r\n`,
      undefined,
      'says that it is JSON',
    ],
  ])('is refused with a reason when it %s', async (_what, payload, type, message) => {
    const answer = await sendRaw(payload, type)
    expect(answer.statusCode).toBe(400)
    const issue = expect.stringContaining(message)
    expect(answer.json()).toMatchObject({
      error: { code: 'VALIDATION_ERROR', message: issue, details: { field: 'body', issue } },
    })
    expect(existsSync(path)).toBe(false)
  })

  it('is refused with the name of the field when it has two files', async () => {
    const answer = await send([
      ['file', file('x.txt')],
      ['file', file('y.txt')],
    ])
    expect(answer.json()).toMatchObject({
      error: { details: { field: 'file', issue: 'Send one file at a time.' } },
    })
  })
})

it('a form whose sender goes away leaves nothing behind, and is no failure', async () => {
  const { port } = new URL(await server.app.listen({ host: '127.0.0.1', port: 0 }))
  const finished = Promise.withResolvers<void>()
  const isBegun = Promise.withResolvers<void>()
  server.app.server.on('request', (request, response) => {
    request.once('data', () => isBegun.resolve())
    response.once('close', () => finished.resolve())
  })
  const socket = connect(Number(port), '127.0.0.1')
  const head =
    'POST /api/forms HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: 900\r\n\r\n'
  socket.write(`${head}${part('name="file"; filename="x.txt"', 'Hello')}`)
  await isBegun.promise
  socket.destroy()
  await finished.promise
  await discarded.promise
  expect(existsSync(path)).toBe(false)
  // That nobody is there to be answered is found out right after.
  const { promise, resolve } = Promise.withResolvers<void>()
  setImmediate(resolve)
  await promise
  expect(server.logged.filter(({ level }) => Number(level) > 30)).toEqual([])
})
