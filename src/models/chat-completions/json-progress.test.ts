import { describe, expect, test } from 'vitest'
import { createJsonProgress } from './json-progress.ts'

function progressOf(...pieces: string[]) {
  const progress = createJsonProgress()
  for (const piece of pieces) progress.advance(piece)
  return progress
}

describe('the progress of a JSON text', () => {
  test.each([
    ['{}', true],
    [' {"x":[1,{"y":2}]}\n', true],
    ['{"x":"}"}', true],
    ['{"x":"\\"}"}', true],
    ['{"x":"\\\\"}', true],
    ['', false],
    [' ', false],
    ['{', false],
    ['{"x":"}', false],
    ['{"x":"\\"}', false],
    ['{"x":{}', false],
    ['{} {}', false],
    ['{}x', false],
    ['x{}', false],
    ['[]', false],
    ['1', false],
  ])('%s is a complete object: %s, however it is torn apart', (text, expected) => {
    expect(progressOf(text).isCompleteObject()).toBe(expected)
    expect(progressOf(...text).isCompleteObject()).toBe(expected)
    expect(progressOf(text).isBlank()).toBe(text.trim() === '')
  })
})
