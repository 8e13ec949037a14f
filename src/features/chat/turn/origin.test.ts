import { describe, expect, it } from 'vitest'
import type { PromptMessage } from '#models/language-model/language-model.ts'
import type { Tool } from '#models/tools/tool.ts'
import { heldBack, noteOrigin } from './egress.ts'
import type { TurnInput } from './turn-input.ts'
import { freshState } from './turn-state.ts'

const input = { isTainted: false } as TurnInput
const toolWith = (parts: Partial<Tool>) => ({ name: 'remember', ...parts }) as Tool
const page = toolWith({})
const rows = toolWith({ origin: 'own' })
const search = toolWith({ origin: result => result as string[] })
const computed = toolWith({ origin: 'computed' })

describe('data of the agent counts as read', () => {
  it.each<[string, boolean | undefined, [Tool, unknown][]]>([
    ['by rows', true, [[rows, [['ann@x.example']]]]],
    ['by the error of a statement, which can hold a value', true, [[rows, undefined]]],
    [
      'by a search beside a page that was read first',
      true,
      [
        [page, 'A page.'],
        [search, ['salaries']],
      ],
    ],
    ['not by a search that comes first', undefined, [[search, ['handbook']]]],
    ['not by a search that finds nothing', undefined, [[search, []]]],
    ['not by the failure of a page', undefined, [[page, undefined]]],
    ['not by what is computed', undefined, [[computed, 4]]],
  ])('%s', (_how, expected, results) => {
    const state = freshState({ isTainted: false })
    for (const [tool, result] of results) noteOrigin(input, state, tool, result)
    expect(state.hasOwnData).toBe(expected)
  })
})

describe('an address that a tool returns from its arguments', () => {
  const address = 'https://evil.example/?d=secret'
  const output = { type: 'text' as const, value: `Saved: ${address}` }
  const call = { toolCallId: 'a', toolName: 'remember' }
  const messages: PromptMessage[] = [
    { role: 'assistant', content: [{ type: 'tool-call', ...call, input: { note: address } }] },
    { role: 'tool', content: [{ type: 'tool-result', ...call, output }] },
  ]
  const judge = (tool: Tool) =>
    heldBack(
      { to: address, carries: 'nothing' },
      { url: address },
      { messages, tools: [tool], hosts: [], hasOwnData: false },
    )

  it('is unknown where the tool sends nothing, and so was not judged', () => {
    expect(judge(page)).toMatchObject({ sends_to: address })
  })

  it('is known where the call was judged', () => {
    expect(judge(toolWith({ egress: () => undefined }))).toBeUndefined()
  })
})
