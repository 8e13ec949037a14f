import { expect, test } from 'vitest'
import { alternating, withoutTools } from './alternating.ts'
import type { PromptMessage } from './language-model.ts'

const written: Record<string, PromptMessage> = {
  s: { role: 'system', content: 's' },
  u: { role: 'user', content: [{ type: 'text', text: 'u' }] },
  a: { role: 'assistant', content: [{ type: 'text', text: 'a' }] },
  c: { role: 'assistant', content: [{ type: 'tool-call', toolCallId: '1', toolName: 'f', input: {} }] },
  q: {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'q' },
      { type: 'tool-call', toolCallId: '1', toolName: 'f', input: {} },
    ],
  },
  t: {
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId: '1', toolName: 'f', output: { type: 'text', value: 't' } }],
  },
}
const prompt = (letters: string) => [...letters].map(letter => written[letter] as PromptMessage)

/** A letter for each part; messages are separated by blanks, and placeholders are in parentheses. */
function shape(messages: readonly PromptMessage[]): string {
  const ofPart = (part: { type: string; text?: string }) => {
    if (part.type !== 'text') return part.type === 'tool-call' ? 'c' : 't'
    if (part.text?.startsWith('(')) return part.text.includes('not shown') ? '(u)' : '(a)'
    return part.text?.startsWith('Result') ? 'r' : part.text?.trim()
  }
  return messages
    .map(({ content }) => (typeof content === 'string' ? content : content.map(ofPart).join('')))
    .join(' ')
}

test.each([
  ['suau', 's u a u'],
  ['suu', 's uu'],
  ['suaau', 's u aa u'],
  ['sau', 's (u) a u'],
  ['au', '(u) a u'],
  ['scta', 's (u) c t a'],
  ['suctau', 's u c t a u'],
  ['suactau', 's u ac t a u'],
  ['suctctau', 's u c t c t a u'],
  ['suctu', 's u c t (a) u'],
  ['suact', 's u ac t'],
  ['ssu', 's s u'],
  ['', ''],
])('%s becomes %s', (letters, expected) => expect(shape(alternating(prompt(letters)))).toBe(expected))

test('merged answers stay separate paragraphs', () => {
  expect(alternating(prompt('uaa'))[1]?.content).toEqual([
    { type: 'text', text: 'a' },
    { type: 'text', text: '\n\n' },
    { type: 'text', text: 'a' },
  ])
})

test.each([
  ['suctau', 's ur a u'],
  ['suactu', 's u a ru'],
  ['suau', 's u a u'],
  ['suqtau', 's ur a u'],
])('without tools, %s becomes %s', (letters, expected) => {
  expect(shape(withoutTools(prompt(letters)))).toBe(expected)
})
