import { expect, it, vi } from 'vitest'
import { startRecording } from './in-page.ts'

interface Field {
  matches(): boolean
}
interface Given {
  maskInputFn(text: string, field: Field): string
}

const options = {
  library: {},
  secretFields: 'input',
  hiddenValue: '********',
  batchMs: 250,
  maxSnapshot: 100,
  maxBurst: 100,
  burstMs: 100,
}

it('masks a field that once was for secrets, also when it is another and nothing in the page says so', () => {
  vi.stubGlobal('addEventListener', () => {})
  vi.stubGlobal('removeEventListener', () => {})
  let given: Given | undefined
  const record = (one: object) => {
    given = one as Given
    return () => {}
  }
  const recorder = startRecording(Object.assign(record, { takeFullSnapshot: () => {} }), () => {}, options)
  let isSecret = true
  const field = { matches: () => isSecret }
  const other = { matches: () => false }
  const before = given?.maskInputFn('horse', field)
  isSecret = false
  expect([before, given?.maskInputFn('horses', field), given?.maskInputFn('Ada', other)]).toEqual([
    '********',
    '********',
    'Ada',
  ])
  recorder.stop()
  vi.unstubAllGlobals()
})
