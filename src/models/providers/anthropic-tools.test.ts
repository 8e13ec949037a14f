import { expect, it } from 'vitest'
import type { CallOptions } from '../language-model/language-model.ts'
import { withToolsOfPrompt } from './anthropic-tools.ts'

const question: CallOptions['prompt'][number] = { role: 'user', content: [{ type: 'text', text: 'Hello' }] }
const call: CallOptions['prompt'][number] = {
  role: 'assistant',
  content: [{ type: 'tool-call', toolCallId: '1', toolName: 'look_up', input: {} }],
}

it('defines the tools that the prompt has called, and forbids to call them again', () => {
  const options = withToolsOfPrompt({ prompt: [question, call, call] })
  expect(options.tools).toEqual([{ type: 'function', name: 'look_up', inputSchema: { type: 'object' } }])
  expect(options.toolChoice).toEqual({ type: 'none' })
})

it('leaves a prompt without calls, and one with tools on offer, as it is', () => {
  const without = { prompt: [question] }
  expect(withToolsOfPrompt(without)).toBe(without)
  const offered = {
    prompt: [question, call],
    tools: [{ type: 'function' as const, name: 'x', inputSchema: {} }],
  }
  expect(withToolsOfPrompt(offered)).toBe(offered)
})
