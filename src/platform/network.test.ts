import { expect, it } from 'vitest'
import { isLoopback } from './network.ts'

it.each([
  '127.0.0.1',
  '127.255.255.254',
  '::1',
  '[::1]',
  '0:0:0:0:0:0:0:1',
  '::ffff:127.0.0.1',
  'localhost',
  'LOCALHOST',
])('%s is this machine', host => {
  expect(isLoopback(host)).toBe(true)
})

it.each([
  '0.0.0.0',
  '::',
  '10.0.0.1',
  '128.0.0.1',
  '::ffff:10.0.0.1',
  'localhost.evil.test',
  '127.0.0.1.evil.test',
  '',
])('%s is not this machine alone', host => {
  expect(isLoopback(host)).toBe(false)
})
