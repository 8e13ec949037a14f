import type { FastifyRequest } from 'fastify'
import { expect, it } from 'vitest'
import { manualClock } from '#test/support/manual-clock.ts'
import { createSecretBox } from '../../encryption/secret-box.ts'
import { createSignedRequests } from './signed-requests.ts'

const clock = manualClock()
const secretBox = createSecretBox(Buffer.alloc(32, 1))
const sender = createSignedRequests({ secretBox, instanceId: 'sender', clock })
const holder = createSignedRequests({ secretBox, instanceId: 'holder', clock })

function requestOf(method: string, url: string, signature?: string): FastifyRequest {
  const headers = signature === undefined ? {} : { 'x-replica-signature': signature }
  return { raw: { method, url }, headers } as unknown as FastifyRequest
}

const sign = () => sender.sign(requestOf('POST', '/a?b=c'), 'holder')

it('a signature is good at its process, for its method and address', () => {
  expect(holder.isSigned(requestOf('POST', '/a?b=c', sign()))).toBe(true)
})

it.each([
  ['another method', 'PUT', '/a?b=c'],
  ['another path', 'POST', '/b?b=c'],
  ['another query', 'POST', '/a?b=d'],
])('a signature is not good for %s', (_what, method, url) => {
  expect(holder.isSigned(requestOf(method, url, sign()))).toBe(false)
})

it('a signature is not good at another process, with another key, or with a longer time', () => {
  expect(sender.isSigned(requestOf('POST', '/a?b=c', sign()))).toBe(false)
  const foreignBox = createSecretBox(Buffer.alloc(32, 2))
  const foreign = createSignedRequests({ secretBox: foreignBox, instanceId: 'sender', clock })
  const forged = foreign.sign(requestOf('POST', '/a?b=c'), 'holder')
  expect(holder.isSigned(requestOf('POST', '/a?b=c', forged))).toBe(false)
  const longer = sign().replace(/^\d+/, time => String(Number(time) + 1000))
  expect(holder.isSigned(requestOf('POST', '/a?b=c', longer))).toBe(false)
})

it('a signature is good for a minute', () => {
  const signature = sign()
  clock.advance(59_999)
  expect(holder.isSigned(requestOf('POST', '/a?b=c', signature))).toBe(true)
  clock.advance(1)
  expect(holder.isSigned(requestOf('POST', '/a?b=c', signature))).toBe(false)
})
