import { expect, it } from 'vitest'
import type { StreamEvent } from '#features/chat/stream-events.schema.ts'
import { type Answer, advance, isOver, newAnswer, stepsOf } from './answer.ts'

const call = { id: 'abcdefghi', name: 'search_knowledge', arguments: { query: 'kiln' } }
const passages = [
  { id: 'p', source_id: 's', source_name: 'Manual', page: 8, section: null, start: 0, end: 9 },
]
const start: StreamEvent = {
  type: 'message_start',
  userMessageId: 'm',
  conversationId: 'c',
  model: 'fake',
  turnId: 'a',
  passages,
}
const result = { toolCallId: call.id, name: call.name, success: true, result: { results: [] } } as const

/** The answer after these events, of which each comes ten milliseconds after the one before. */
const after = (...events: unknown[]): Answer =>
  events.reduce<Answer>((answer, event, at) => advance(answer, event as StreamEvent, at * 10), newAnswer)

it.each<[string, unknown[], Partial<Answer>]>([
  ['nothing', [], { state: 'sending', text: '' }],
  ['its start', [start], { state: 'thinking', conversationId: 'c', userMessageId: 'm', passages }],
  ['an iteration', [start, { type: 'thinking', iteration: 2 }], { state: 'thinking' }],
  [
    'text',
    [
      start,
      { type: 'content_delta', delta: 'It', index: 0 },
      { type: 'content_delta', delta: ' is', index: 1 },
    ],
    { state: 'writing', text: 'It is' },
  ],
  [
    'text that was thought',
    [start, { type: 'content_delta', delta: 'Hm', index: 0 }, { type: 'content_replaced', content: '' }],
    { text: '' },
  ],
  [
    'a call',
    [start, { type: 'content_delta', delta: 'It', index: 0 }, { type: 'tool_call', ...call }],
    { state: 'thinking', steps: [{ call, startedAt: 20 }] },
  ],
  [
    'its result',
    [start, { type: 'tool_call', ...call }, { type: 'tool_result', ...result, resultPreview: '' }],
    { steps: [{ call, startedAt: 10, tookMs: 10, result }] },
  ],
  ['a result without a call', [start, { type: 'tool_result', ...result }], { steps: [] }],
  [
    'a reset',
    [
      start,
      { type: 'content_delta', delta: 'It', index: 0 },
      { type: 'tool_call', ...call },
      { type: 'content_delta', delta: ' is', index: 1 },
      { type: 'content_reset', content: 'It', index: 1 },
      { type: 'tool_result', ...result, resultPreview: '' },
    ],
    { text: 'It', steps: [{ call, startedAt: 20, tookMs: 30, result }] },
  ],
  [
    'a call that waits, and what came of it',
    [
      start,
      { type: 'tool_call', ...call },
      { type: 'turn_waiting', approval_id: call.id },
      { type: 'content_reset', content: '', index: 0 },
      { type: 'tool_result', ...result, resultPreview: '' },
      { type: 'thinking', iteration: 2 },
    ],
    { state: 'thinking', steps: [{ call, startedAt: 10, tookMs: 30, result }] },
  ],
  [
    'a wait',
    [start, { type: 'tool_call', ...call }, { type: 'turn_waiting', approval_id: call.id }],
    { state: 'waiting', steps: [{ call, startedAt: 10 }] },
  ],
  ['an unknown event', [start, { type: 'news' }], { state: 'thinking' }],
  ['its end', [start, { type: 'message_complete', assistantMessageId: 'a' }], { state: 'done' }],
  [
    'an error',
    [start, { type: 'error', code: 'MODEL_ERROR', message: 'No.' }],
    { state: 'failed', error: { code: 'MODEL_ERROR', message: 'No.' } },
  ],
])('after %s', (_, events, expected) => {
  expect(after(...events)).toMatchObject(expected)
})

it('is over when it waits, is done, failed or stopped', () => {
  const states = ['sending', 'thinking', 'writing', 'waiting', 'done', 'stopped', 'failed'] as const
  expect(states.filter(state => isOver({ ...newAnswer, state }))).toEqual([
    'waiting',
    'done',
    'stopped',
    'failed',
  ])
})

it('steps of a stored answer have their results', () => {
  const message = { id: 'a', role: 'assistant', content: '', conversationId: 'c', createdAt: '' } as const
  const other = { ...call, id: 'other' }
  expect(stepsOf({ ...message, toolCalls: [call, other], toolResults: [result] })).toEqual([
    { call, result },
    { call: other },
  ])
  expect(stepsOf({ ...message, toolCalls: null, toolResults: null })).toEqual([])
})
