import { expect, it, onTestFinished } from 'vitest'
import { createOutbound } from '#platform/outbound/outbound.ts'
import { startSite } from '#test/support/site-server.ts'
import { fetchAddress } from './fetch-address.ts'

const url = 'http://harbour.example'

/** A name that leads to these addresses, one look-up after the other. */
function outboundTo(...addresses: string[]) {
  const outbound = createOutbound({
    allow: [],
    userAgent: 'test',
    resolve: async () => [{ address: addresses.shift() ?? '127.0.0.1', family: 4 }],
  })
  onTestFinished(() => outbound.close())
  return outbound
}

it('a name that leads elsewhere once it was accepted is refused when it is fetched', async () => {
  await using site = await startSite(() => 'Tides')
  const address = `${url}:${new URL(site.url).port}/`
  const outbound = outboundTo('93.184.216.34')
  await outbound.requirePermitted(address, 'url')
  const wanted = { url: address, headers: {}, secretHeaders: [], known: undefined }
  const answer = await fetchAddress(wanted, {
    outbound,
    maxBytes: 1000,
    signal: new AbortController().signal,
  })
  expect(answer).toEqual({
    kind: 'failed',
    reason: expect.stringContaining('harbour.example cannot be reached'),
  })
  expect(site.requests).toEqual([])
})

it('an end from outside ends the wait for the next attempt', async () => {
  const ending = new AbortController()
  await using site = await startSite(() => {
    queueMicrotask(() => ending.abort(new Error('the job was cancelled')))
    return { status: 503, headers: { 'retry-after': '20' } }
  })
  const outbound = createOutbound({ allow: ['127.0.0.1'], userAgent: 'test' })
  onTestFinished(() => outbound.close())
  const wanted = { url: site.url, headers: {}, secretHeaders: [], known: undefined }
  const answer = fetchAddress(wanted, { outbound, maxBytes: 1000, signal: ending.signal })
  await expect(answer).rejects.toThrow()
  expect(site.requests).toHaveLength(1)
})

it('a wait that is too long is not waited', async () => {
  await using site = await startSite(() => ({ status: 429, headers: { 'retry-after': '31' } }))
  const outbound = createOutbound({ allow: ['127.0.0.1'], userAgent: 'test' })
  onTestFinished(() => outbound.close())
  const wanted = { url: site.url, headers: {}, secretHeaders: [], known: undefined }
  const { signal } = new AbortController()
  expect(await fetchAddress(wanted, { outbound, maxBytes: 1000, signal })).toEqual({
    kind: 'failed',
    reason: 'The address answered with status 429.',
  })
  expect(site.requests).toHaveLength(1)
})
