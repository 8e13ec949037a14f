import { connect, type Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { Type } from 'typebox'
import { describe, expect, it, onTestFinished } from 'vitest'
import { bareServer, plainRoute } from '#test/support/bare-server.ts'

const mebibyte = 1024 * 1024
const bodyLimit = 1024 * mebibyte

/** A server with a route for JSON, and one for forms whose handler reads only once the test lets it. */
async function setStage(bodyTimeout?: number) {
  const reading = Promise.withResolvers<void>()
  const begun = new Set<string>()
  const { app } = await bareServer({
    ...(bodyTimeout !== undefined && { bodyTimeout }),
    routes: bare => {
      bare.addContentTypeParser('multipart/form-data', (_request, _content, done) => done(null))
      const config = plainRoute
      bare.post('/api/json', { config, bodyLimit }, async ({ body }) => ({ length: String(body).length }))
      bare.post('/api/form', { config, schema: { form: Type.Object({}) } }, async ({ raw, headers }) => {
        begun.add(String(headers['x-name']))
        if (headers['x-name'] === 'held') await reading.promise
        return { length: await lengthOf(raw) }
      })
    },
  })
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  return { app, port: Number(port), read: reading.resolve, begun }
}

/** Reads as parsers of forms do. */
function lengthOf(stream: Readable): Promise<number> {
  let length = 0
  stream.on('data', part => {
    length += part.length
  })
  return new Promise((resolve, reject) => stream.on('end', () => resolve(length)).on('error', reject))
}

interface Sender {
  socket: Socket
  write(text: string | Buffer): void
  /** The answer, once it is whole. */
  answer: Promise<{ status: number; text: string }>
}

function send(port: number, head: Record<string, string | number>, path = '/api/json'): Sender {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  const headers = { host: 'x', 'content-type': 'application/json', ...head }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
  const answer = new Promise<{ status: number; text: string }>((resolve, reject) => {
    let text = ''
    socket.on('data', part => {
      text += part
      const [top = '', body] = text.split('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(top)?.[1] ?? Number.NaN)
      if (body !== undefined && Buffer.byteLength(body) >= length)
        resolve({ status: Number(text.slice(9, 12)), text })
    })
    socket.on('close', () => reject(new Error(`closed after: ${text}`)))
    socket.on('error', () => {})
  })
  answer.catch(() => {})
  return { socket, write: text => void socket.write(text), answer }
}

/** Sends the head and a part of a body; resolves once the service reads it. */
async function begin(stage: Awaited<ReturnType<typeof setStage>>, head: Record<string, string | number>) {
  const letIn = new Promise<void>(resolve => {
    stage.app.server.once('request', request => request.once('resume', resolve))
  })
  const sender = send(stage.port, head)
  sender.write('"')
  await letIn
  return sender
}

const small = async (port: number) => {
  const sender = send(port, { 'content-length': 2 })
  sender.write('""')
  return (await sender.answer).status
}

const overloaded = {
  status: 503,
  text: expect.stringMatching(/retry-after: 5\r\n(.*\r\n)*.*OVERLOADED.*Try again/i),
}

describe('bodies that arrive', () => {
  it('have 128 MiB together, smaller ones left out; one that has gone, or was read, makes room', async () => {
    const stage = await setStage()
    const two = [await begin(stage, { 'content-length': 63 * mebibyte })]
    two.push(await begin(stage, { 'content-length': 63 * mebibyte }))
    expect(await send(stage.port, { 'content-length': 3 * mebibyte }).answer).toMatchObject(overloaded)
    expect(await small(stage.port)).toBe(200)
    const whole = await begin(stage, { 'content-length': 2 * mebibyte })
    expect(await send(stage.port, { 'content-length': mebibyte + 1 }).answer).toMatchObject(overloaded)
    whole.write(`${'x'.repeat(2 * mebibyte - 2)}"`)
    expect(await whole.answer).toMatchObject({ status: 200 })
    await begin(stage, { 'content-length': 2 * mebibyte })
    two[0]?.socket.destroy()
    await expect
      .poll(async () => {
        const sender = send(stage.port, { 'content-length': 3 * mebibyte })
        sender.write(`"${'x'.repeat(3 * mebibyte - 2)}"`)
        return (await sender.answer).status
      })
      .toBe(200)
  })

  it('count as they come where they do not tell their length', async () => {
    const stage = await setStage()
    for (let n = 0; n < 2; n += 1) await begin(stage, { 'content-length': 63 * mebibyte })
    const chunked = send(stage.port, { 'transfer-encoding': 'chunked' })
    const part = 'x'.repeat(mebibyte)
    for (let n = 0; n < 3; n += 1) chunked.write(`${part.length.toString(16)}\r\n${part}\r\n`)
    expect(await chunked.answer).toMatchObject(overloaded)
    const other = send(stage.port, { 'transfer-encoding': 'chunked' })
    other.write(`${part.length.toString(16)}\r\n"${part.slice(2)}"\r\n0\r\n\r\n`)
    expect(await other.answer).toMatchObject({ status: 200 })
  })

  it('count half of that at most, as large uploads do', async () => {
    const stage = await setStage()
    await begin(stage, { 'content-length': 900 * mebibyte })
    await begin(stage, { 'content-length': 900 * mebibyte })
    expect(await send(stage.port, { 'content-length': 2 * mebibyte }).answer).toMatchObject(overloaded)
  })

  it.each([
    ['JSON', 'application/json', '/api/json'],
    ['a form', 'multipart/form-data; boundary=b', '/api/form'],
  ])('end with 408 once nothing comes any more: %s', async (_what, type, path) => {
    const stage = await setStage(100)
    const form = { 'content-type': 'multipart/form-data; boundary=b', 'content-length': mebibyte }
    const held = send(stage.port, { ...form, 'x-name': 'held' }, '/api/form')
    held.write('x'.repeat(mebibyte))
    const stalled = send(stage.port, { 'content-type': type, 'content-length': 100 }, path)
    stalled.write('"')
    expect(await stalled.answer).toMatchObject({
      status: 408,
      text: expect.stringContaining('The request stopped arriving. Send it again.'),
    })
    // One that is not read waits for the service, not the other way round.
    expect(stage.begun).toContain('held')
    stage.read()
    expect(await held.answer).toMatchObject({ status: 200 })
  })
})
