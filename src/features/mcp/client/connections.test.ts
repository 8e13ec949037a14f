import { describe, expect, it, vi } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import type { Connection } from './connect.ts'
import { createConnections } from './connections.ts'

const signal = new AbortController().signal
const limits = { idleMs: 60_000, most: 3, maxOfAgent: 2 }
const agentOf = (agentId: string) => {
  const ending = new AbortController()
  return { agentId, signal: ending.signal, end: () => ending.abort() }
}

/** Opens connections that do nothing, and tells which were closed. */
function opener() {
  const closed: string[] = []
  let opened = 0
  const open =
    (name: string, isClosed = () => false) =>
    async (): Promise<Connection> => {
      opened += 1
      return {
        hasSession: false,
        hasNews: false,
        isClosed,
        listTools: async () => {},
        callTool: async () => ({ content: [] }),
        close: async () => void closed.push(name),
      }
    }
  return { open, closed, opened: () => opened }
}

describe('the connections of a process', () => {
  it('are one to each server, shared by all who use it', async () => {
    const { open, opened } = opener()
    const connections = createConnections(limits)
    const agent = agentOf('a')
    const [one, two] = await Promise.all([
      connections.acquire(agent, 's', open('s'), signal),
      connections.acquire(agent, 's', open('s'), signal),
    ])
    const three = await connections.acquire(agent, 's', open('s'), signal)
    expect([one.isOld, two.isOld, three.isOld]).toEqual([false, false, true])
    expect(one.connection).toBe(two.connection)
    expect(opened()).toBe(1)
    await connections.close()
  })

  it('are closed when they were idle for a while, and not before', async () => {
    vi.useFakeTimers()
    try {
      const { open, closed } = opener()
      const connections = createConnections(limits)
      const held = await connections.acquire(agentOf('a'), 's', open('s'), signal)
      await vi.advanceTimersByTimeAsync(limits.idleMs * 2)
      expect(closed).toEqual([])
      held[Symbol.dispose]()
      held[Symbol.dispose]()
      await vi.advanceTimersByTimeAsync(limits.idleMs - 1)
      expect(closed).toEqual([])
      await vi.advanceTimersByTimeAsync(1)
      expect({ closed, count: connections.count() }).toEqual({ closed: ['s'], count: 0 })
    } finally {
      vi.useRealTimers()
    }
  })

  it('make room for each other, of one agent and of all, unless they are in use', async () => {
    const { open, closed } = opener()
    const connections = createConnections(limits)
    const [a, b, c] = [agentOf('a'), agentOf('b'), agentOf('c')]
    const use = async (agent: typeof a, name: string) => connections.acquire(agent, name, open(name), signal)
    const first = await use(a, 'a1')
    const second = await use(a, 'a2')
    await expect(use(a, 'a3')).rejects.toMatchObject({ code: 'OUTBOUND_FAILED' })
    second[Symbol.dispose]()
    await use(a, 'a3')
    await eventually(() => expect(closed).toEqual(['a2']))
    const other = await use(b, 'b1')
    await expect(use(c, 'c1')).rejects.toMatchObject({ code: 'OUTBOUND_FAILED' })
    other[Symbol.dispose]()
    first[Symbol.dispose]()
    await use(c, 'c1')
    await eventually(() => expect(closed).toEqual(['a2', 'a1']))
    await connections.close()
  })

  it('end with their server and with their agent, when their last user has gone', async () => {
    const { open, closed } = opener()
    const connections = createConnections(limits)
    const agent = agentOf('a')
    const one = await connections.acquire(agent, 'one', open('one'), signal)
    connections.drop('one')
    expect({ closed: [...closed], count: connections.count() }).toEqual({ closed: [], count: 0 })
    one[Symbol.dispose]()
    await eventually(() => expect(closed).toEqual(['one']))
    const two = await connections.acquire(agent, 'two', open('two'), signal)
    two[Symbol.dispose]()
    agent.end()
    await eventually(() => expect(closed).toEqual(['one', 'two']))
  })

  it('are opened anew when they were closed or did not come about', async () => {
    const { open, closed, opened } = opener()
    const connections = createConnections(limits)
    const agent = agentOf('a')
    const held = await connections.acquire(
      agent,
      's',
      open('s', () => true),
      signal,
    )
    held[Symbol.dispose]()
    expect((await connections.acquire(agent, 's', open('t'), signal)).isOld).toBe(false)
    expect({ closed, opened: opened() }).toEqual({ closed: ['s'], opened: 2 })
    const failing = () => connections.acquire(agent, 'f', () => Promise.reject(new Error('no')), signal)
    await expect(failing()).rejects.toThrow('no')
    await expect(failing()).rejects.toThrow('no')
    await connections.close()
    await expect(failing()).rejects.toMatchObject({ code: 'SHUTTING_DOWN' })
  })

  it('are not waited for longer than the caller wants', async () => {
    const connections = createConnections(limits)
    const gone = AbortSignal.abort(new Error('gone'))
    const opening = Promise.withResolvers<Connection>()
    await expect(connections.acquire(agentOf('a'), 's', () => opening.promise, gone)).rejects.toThrow('gone')
    opening.reject(new Error('no'))
    await connections.close()
  })
})
