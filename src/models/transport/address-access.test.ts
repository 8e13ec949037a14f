import { expect, test } from 'vitest'
import { partAddress } from './address-access.ts'

test.each([
  ['https://us%20er:p%40ss@one.example/v1', 'us er:p@ss'],
  ['https://user:50%off@one.example/v1', 'user:50%off'],
  ['https://:key@one.example/v1', ':key'],
])('who asks is told by %s as %s', (address, pair) => {
  const { url, access } = partAddress(address)
  expect(url.href).toBe('https://one.example/v1')
  expect(access).toEqual({ authorization: `Basic ${Buffer.from(pair).toString('base64')}` })
})

test('an address without a user says nothing of who asks', () => {
  expect(partAddress('https://one.example/v1?key=1').access).toEqual({})
})
