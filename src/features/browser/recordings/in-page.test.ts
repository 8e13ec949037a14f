import { expect, it, vi } from 'vitest'
import { PageRecorder } from './in-page.ts'
import { SilentChanges } from './in-page-silent.ts'

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
  lookMs: { usual: 1, last: 1 },
}
const mirror = { getId: () => -1, getNode: () => null }

it('masks a field that once was for secrets, also when it is another and nothing in the page says so', () => {
  vi.stubGlobal('addEventListener', () => {})
  vi.stubGlobal('removeEventListener', () => {})
  let given: Given | undefined
  const record = (one: object) => {
    given = one as Given
    return () => {}
  }
  const library = Object.assign(record, { takeFullSnapshot: () => {}, mirror })
  const recorder = new PageRecorder(library, () => {}, options, SilentChanges)
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
