import { EventEmitter } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { eventually } from '#test/support/eventually.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import type { BrowserSession } from './browser-session.ts'
import { createHeldSessions } from './held-sessions.ts'
import { createKeptSessions } from './kept-sessions.ts'

const clock = manualClock()

/** Of agents that are being deleted, whose databases are gone. */
function holdSessions() {
  const log = { warn() {} } as never
  const held = createHeldSessions({
    finishRecording: async () => {},
    leaseMs: 30_000,
    clock,
    log,
  })
  onTestFinished(held.close)
  const released: string[] = []
  const deletion = new AbortController()
  deletion.abort()
  function hold(id: string, signal = deletion.signal): BrowserSession {
    const events = new EventEmitter()
    const state = { id, agentId: 'agent', status: 'active', lastActivity: clock.now(), events }
    const close = async () => {
      state.status = 'closed'
      events.emit('ended', { status: 'closed' })
    }
    const session = Object.assign(state, { close }) as unknown as BrowserSession
    const agent = { agentId: 'agent', signal, release: () => released.push(`agent of ${id}`) }
    held.add({
      session,
      agent: agent as unknown as AgentHandle,
      profile: undefined,
      release: () => released.push(id),
    })
    return session
  }
  return { held, hold, released, deletion }
}

it('a session whose agent was deleted while it opened ends at once, and releases all that it has', async () => {
  const { hold, released } = holdSessions()
  const session = hold('one')
  await eventually(() => expect(released).toEqual(['one', 'agent of one']))
  expect(session.status).toBe('closed')
})

it('a session that nobody uses ends also where its database is gone, and keeps no other one open', async () => {
  const { hold, released } = holdSessions()
  hold('one', new AbortController().signal)
  hold('two', new AbortController().signal)
  clock.advance(10 * 60_000)
  await eventually(() => expect(released.toSorted()).toEqual(['agent of one', 'agent of two', 'one', 'two']))
})

it('a holder has one session, also where several find that the last has ended', async () => {
  const { held, hold } = holdSessions()
  let opened = 0
  const never = new AbortController()
  const create = async () => {
    opened += 1
    return hold(String(opened), never.signal)
  }
  const { keep } = createKeptSessions(create, held)
  const agent = { agentId: 'agent' } as AgentHandle
  const keepTwice = () => Promise.all([keep(agent, 'holder'), keep(agent, 'holder')])
  const [first, second] = await keepTwice()
  expect(second).toBe(first)
  void held.end(first.id)
  const [third, fourth] = await keepTwice()
  expect(third).not.toBe(first)
  expect([fourth === third, opened]).toEqual([true, 2])
})
