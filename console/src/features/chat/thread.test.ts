import { expect, it } from 'vitest'
import type { Message } from './requests.ts'
import { besideTurn, joinThread, type Thread } from './thread.ts'
import type { Turn } from './turns.ts'

const message = (id: string): Message => ({
  id,
  role: id.startsWith('q') ? 'user' : 'assistant',
  content: id,
  conversationId: 'c',
  toolCalls: null,
  toolResults: null,
  createdAt: '2026-01-01T00:00:00.000Z',
})
const thread = (ids: string, hasEarlier = false): Thread => ({
  messages: ids.split(' ').map(message),
  hasEarlier,
})
const idsOf = (messages: readonly Message[]) => messages.map(({ id }) => id).join(' ')

it.each([
  ['nothing was known', undefined, thread('q2 a2', true), 'q2 a2', true],
  ['earlier ones were loaded', thread('q1 a1 q2 a2'), thread('q2 a2 q3', true), 'q1 a1 q2 a2 q3', false],
  ['earlier ones remain', thread('q1 a1 q2 a2', true), thread('a1 q2 a2', true), 'q1 a1 q2 a2', true],
  ['there is a gap', thread('q1 a1'), thread('q5 a5', true), 'q5 a5', true],
  ['answers were replaced', thread('q1 a1 q2 a2'), thread('q1 a9'), 'q1 a9', false],
])('the newest messages, where %s', (_, known, newest, ids, hasEarlier) => {
  const joined = joinThread(known, newest)
  expect([idsOf(joined.messages), joined.hasEarlier]).toEqual([ids, hasEarlier])
})

it.each<[string, Partial<Turn> | undefined, string]>([
  ['no turn', undefined, 'q1 a1 q2 a2'],
  ['a new question that is not stored yet', { question: 'q3' }, 'q1 a1 q2 a2'],
  ['a question that was stored', { question: 'q2', userMessageId: 'q2' }, 'q1 a1'],
  ['an answer that is given again', { replaces: 'a2' }, 'q1 a1 q2'],
  ['the same, once it has begun', { replaces: 'a2', userMessageId: 'q2' }, 'q1 a1 q2'],
  ['a question that is answered again', { replaces: 'q2' }, 'q1 a1 q2'],
])('beside %s', (_, turn, ids) => {
  expect(idsOf(besideTurn(thread('q1 a1 q2 a2').messages, turn as Turn | undefined))).toBe(ids)
})
