import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import type { WebSocket } from 'ws'
import { createConnection } from './connection.ts'

/** A connection on which nothing that is sent arrives. */
function connect() {
  const sent: string[] = []
  const codes: number[] = []
  const socket = Object.assign(new EventEmitter(), {
    OPEN: 1,
    readyState: 1,
    bufferedAmount: 0,
    send(text: string) {
      sent.push(text)
      socket.bufferedAmount += text.length
    },
    close(code: number) {
      codes.push(code)
      socket.readyState = 2
    },
  })
  return { connection: createConnection(socket as unknown as WebSocket), socket, sent, codes }
}

it('a client that reads nothing costs a few megabytes, however much there is to be sent', () => {
  for (const send of ['send', 'sendIfReady', 'sendWhole'] as const) {
    const { connection, socket, codes } = connect()
    for (let count = 0; count < 10; count += 1) connection[send]('x'.repeat(1e6))
    expect(socket.bufferedAmount).toBeLessThan(6e6)
    expect(codes).toEqual(send === 'sendIfReady' ? [] : [1013])
    socket.emit('close')
  }
})

it('a client that sends without end is no longer listened to', () => {
  const { connection, socket, codes } = connect()
  let used = 0
  connection.onMessage(() => {
    used += 1
    return true
  })
  for (let count = 0; count < 5050; count += 1) socket.emit('message', Buffer.from('{}'), false)
  expect([used, codes]).toEqual([5000, [4400]])
  socket.emit('close')
})
