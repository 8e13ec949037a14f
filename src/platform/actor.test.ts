import { expect, it } from 'vitest'
import { type Actor, anonymous, labelOf, readActor, writeActor } from './actor.ts'

it.each<[label: string | undefined, actor: Actor]>([
  [undefined, anonymous],
  ['ada@example.com', { kind: 'person', id: 'ada@example.com', name: 'Ada' }],
  ['key "CI" of ada@example.com', { kind: 'key', id: 'k1', name: 'CI', person: 'ada@example.com' }],
  ['workflow Nightly', { kind: 'workflow', id: 'w1', name: 'Nightly' }],
  ['channel telegram', { kind: 'channel', id: 'telegram', name: null }],
])('%s is kept as text, and is read from it', (label, actor) => {
  expect(labelOf(actor)).toBe(label)
  expect(readActor(writeActor(actor))).toEqual(actor)
})
