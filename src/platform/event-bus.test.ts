import { expect, test } from 'vitest'
import { createEventBus } from './event-bus.ts'

interface Events {
  'note.created': { id: string }
  'note.deleted': { id: string }
}

test('emit waits for each handler, in the order of registration, and for handlers of that name only', async () => {
  const bus = createEventBus<Events>()
  const handled: string[] = []
  bus.on('note.created', async ({ id }) => {
    await Promise.resolve()
    handled.push(`first ${id}`)
  })
  bus.on('note.created', ({ id }) => {
    handled.push(`second ${id}`)
  })
  bus.on('note.deleted', () => {
    handled.push('deleted')
  })
  await bus.emit('note.created', { id: 'a' })
  expect(handled).toEqual(['first a', 'second a'])
})

test('a failing handler does not stop the others, and all failures are reported together', async () => {
  const bus = createEventBus<Events>()
  const handled: string[] = []
  bus.on('note.created', () => {
    throw new Error('thrown at once')
  })
  bus.on('note.created', async () => {
    throw new Error('rejected')
  })
  bus.on('note.created', ({ id }) => {
    handled.push(id)
  })
  const error = await bus.emit('note.created', { id: 'a' }).catch(reason => reason)
  expect(handled).toEqual(['a'])
  expect(error).toBeInstanceOf(AggregateError)
  expect(error.errors).toEqual([new Error('thrown at once'), new Error('rejected')])
  expect(error.message).toBe('2 handler(s) of note.created failed: thrown at once; rejected')
})

test('a handler that was removed is not called any more, its twin still is', async () => {
  const bus = createEventBus<Events>()
  let calls = 0
  const count = () => {
    calls += 1
  }
  const off = bus.on('note.created', count)
  bus.on('note.created', count)
  await bus.emit('note.created', { id: 'a' })
  off()
  await bus.emit('note.created', { id: 'b' })
  expect(calls).toBe(3)
})

test('an event that nobody handles is fine', async () => {
  const bus = createEventBus<Events>()
  await expect(bus.emit('note.deleted', { id: 'a' })).resolves.toBeUndefined()
})
