import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { useNameServer } from '#test/support/name-server.ts'
import { currentOwner } from '../current-owner.ts'
import { createNameResolver, type NameResolverOptions } from './name-resolver.ts'
import { createOutbound } from './outbound.ts'

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  return (server.address() as AddressInfo).port
}

async function stage(options: Partial<NameResolverOptions> = {}) {
  const asked = await useNameServer({ 'here.test': '127.0.0.1' })
  return { asked, resolve: createNameResolver({ isNamed: () => false, ...options }) }
}

const hanging = (count: number) => Array.from({ length: count }, (_, number) => `name-${number}.silent.test`)

it('names whose server never answers hold up neither other agents nor the operating system', async () => {
  const { asked } = await stage()
  const port = await serve((_request, response) => response.end('here'))
  const outbound = createOutbound({ allow: ['127.0.0.0/8'], userAgent: 'test/1' })
  let ended = 0
  const attempts = currentOwner.run('attacker', () =>
    hanging(100).map(name => outbound.fetch(`http://${name}/`).catch(() => (ended += 1))),
  )
  await expect.poll(() => asked.size).toBeGreaterThan(10)
  const answer = await currentOwner.run('neighbour', () => outbound.fetch(`http://here.test:${port}/`))
  expect(answer.text()).toBe('here')
  expect(await lookup('localhost')).toBeDefined()
  expect(ended).toBe(0)
  // The attacker has no more look-ups at a time than an agent may have.
  expect(asked.size).toBe(16 + 1)
  await outbound.close()
  await Promise.all(attempts)
})

it('a look-up ends when its time is over, also while it waits for its turn', async () => {
  const { resolve } = await stage({ limitMs: 300 })
  const outcomes = await Promise.allSettled(hanging(20).map(name => resolve(name)))
  expect(outcomes.map(one => one.status === 'rejected' && one.reason.code)).toEqual(
    Array(20).fill('EAI_AGAIN'),
  )
  // Nothing of them is left in the way.
  expect(await resolve('here.test')).toEqual([{ address: '127.0.0.1', family: 4 }])
})

it('a name that does not exist is told from one that nobody answers for', async () => {
  const { resolve } = await stage()
  await expect(resolve('a.nowhere.test')).rejects.toMatchObject({ code: 'ENOTFOUND' })
})

it('localhost, also as a domain, and the names of the hosts file are not asked of DNS', async () => {
  const { resolve, asked } = await stage()
  for (const name of ['localhost', 'LocalHost.', 'a.localhost'])
    expect(await resolve(name)).toContainEqual({ address: '127.0.0.1', family: 4 })
  expect(asked.size).toBe(0)
})

it('a host that the operator has named is looked up by the operating system', async () => {
  const { resolve, asked } = await stage({ isNamed: name => name === 'localhost' })
  expect(await resolve('localhost')).toEqual(await lookup('localhost', { all: true }))
  expect(asked.size).toBe(0)
})
