import { expect, test, vi } from 'vitest'
import { createToolCalls } from './tool-calls.ts'

test('arguments in many deltas, each with a name and a bracket, are not parsed with every delta', () => {
  const parse = vi.spyOn(JSON, 'parse')
  const calls = createToolCalls()
  for (let count = 0; count < 1000; count += 1) {
    calls.add({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x":' } })
  }
  calls.add({ index: 0, function: { arguments: `1${'}'.repeat(1000)}` } })
  expect(calls.finish()).toMatchObject([{ toolCallId: 'a', input: expect.stringMatching(/^\{"x":.*1\}+$/) }])
  expect(parse).not.toHaveBeenCalled()
  parse.mockRestore()
})

test.each([
  ['search_', 'knowledge', 'search_knowledge'],
  ['get', 'Time', 'getTime'],
  ['a', '_b', 'a_b'],
  ['getTime', 'getTime', 'getTime'],
])('a name in the pieces %s and %s is %s', (first, second, whole) => {
  const calls = createToolCalls(['search_knowledge', 'getTime', 'a_b', 'a-b'])
  calls.add({ index: 0, id: 'a', function: { name: first, arguments: '' } })
  calls.add({ index: 0, function: { name: second, arguments: '' } })
  calls.add({ index: 0, function: { arguments: '{"x":1}' } })
  expect(calls.finish()).toMatchObject([{ toolCallId: 'a', toolName: whole, input: '{"x":1}' }])
})
