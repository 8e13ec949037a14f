import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { beginAtEndOfTurn, sendAtEndOfTurn } from './end-of-turn.ts'

it('at the end of a turn all is sent that is ready, in its order, and only then new work begins', async () => {
  const happened: string[] = []
  beginAtEndOfTurn(() => happened.push('begun'))
  sendAtEndOfTurn(() => happened.push('one sent'))
  process.nextTick(() => sendAtEndOfTurn(() => happened.push('two sent')))
  await nextTurn()
  expect(happened).toEqual(['one sent', 'two sent', 'begun'])
})

it('what becomes ready while a turn ends goes out at the end of the next one', async () => {
  const happened: string[] = []
  sendAtEndOfTurn(() => {
    happened.push('sent')
    sendAtEndOfTurn(() => happened.push('sent later'))
  })
  await nextTurn()
  expect(happened).toEqual(['sent'])
  await nextTurn()
  expect(happened).toEqual(['sent', 'sent later'])
})
