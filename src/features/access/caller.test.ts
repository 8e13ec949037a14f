import type { FastifyRequest } from 'fastify'
import { describe, expect, it, vi } from 'vitest'
import { actorOf } from '#platform/actor.ts'
import type { Caller, Identify } from './access.feature.ts'
import { actorFor, callerStill, identifyInTurn, noCaller } from './caller.ts'

const person = (email: string, via: Caller['via']): Caller => ({ user: { email, name: undefined }, via })
const key: Caller = {
  user: undefined,
  via: 'key',
  key: { id: 'k1', name: 'CI', creator: 'ada@example.com', agents: ['a1'], role: 'chat' },
}
const request = (caller = noCaller) => ({ caller, actor: actorFor(caller) }) as FastifyRequest

describe('proofs of a caller', () => {
  it.each<[which: string, kinds: Identify[], found: Caller]>([
    ['the first that is there, at once', [() => undefined, () => key, () => noCaller], key],
    ['one that takes its time', [async () => undefined, async () => key, () => noCaller], key],
    ['none of them', [() => undefined, async () => undefined], noCaller],
  ])('are tried in their order: %s', async (_which, kinds, found) => {
    expect(await identifyInTurn(kinds)(request())).toBe(found)
  })

  it('that are bad are not passed over', async () => {
    const later = vi.fn<Identify>(() => key)
    const bad = async () => Promise.reject(new Error('expired'))
    await expect(identifyInTurn([bad, later])(request())).rejects.toThrow('expired')
    expect(later).not.toHaveBeenCalled()
  })

  it.each<[caller: Caller, looks: number]>([
    [key, 1],
    [person('ada@example.com', 'session'), 1],
    [person('ada@example.com', 'gateway'), 0],
    [person('ada@example.com', 'developer'), 0],
  ])('are looked at again where they may have been revoked: %#', async (caller, looks) => {
    const look = vi.fn(() => caller)
    expect(await callerStill(request(caller), look)).toBe(caller)
    expect(look).toHaveBeenCalledTimes(looks)
  })
})

it.each([
  [noCaller, { kind: 'anonymous', id: null, name: null }],
  [person('ada@example.com', 'gateway'), { kind: 'person', id: 'ada@example.com', name: null }],
  [key, { kind: 'key', id: 'k1', name: 'CI', person: 'ada@example.com' }],
])('a caller acts under its name: %#', (caller, actor) => {
  expect(actorOf(request(caller))).toEqual(actor)
})
