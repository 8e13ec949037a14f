import { describe, expect, it } from 'vitest'
import type { Tool } from '#models/tools/tool.ts'
import { fitTools } from './fit-tools.ts'

function tool(name: string, description = '', more: Partial<Tool> = {}): Tool {
  return {
    name,
    description,
    parameters: { type: 'object', properties: {} },
    check: async () => undefined,
    execute: async () => null,
    ...more,
  }
}

const names = (tools: readonly Tool[]) => tools.map(({ name }) => name)
const numbered = (count: number) =>
  Array.from({ length: count }, (_, n) => tool(`tool_${n}`, `Does the work of number ${n}.`))

describe('the tools that a model is told of', () => {
  it('are all of them where they fit', async () => {
    const tools = numbered(100)
    expect(await fitTools(tools, { characters: 100_000, topic: [] })).toEqual({ tools, leftOut: 0 })
  })

  it('are those that the conversation is about where there are too many', async () => {
    const tools = [...numbered(400), tool('listInvoices', 'Lists bills.'), tool('sendLetter', 'Mails.')]
    const fitted = await fitTools(tools, {
      characters: 100_000,
      topic: ['Which invoice is open?', 'Post the letters'],
    })
    expect(fitted.tools).toHaveLength(128)
    expect(fitted.leftOut).toBe(402 - 128)
    expect(names(fitted.tools)).toEqual(expect.arrayContaining(['listInvoices', 'sendLetter']))
  })

  it('leave out what is too long, and keep the order', async () => {
    const long = tool('novel', 'word '.repeat(10_000))
    const tools = [tool('one'), long, tool('two')]
    expect(await fitTools(tools, { characters: 1000, topic: ['novel'] })).toEqual({
      tools: [tools[0], tools[2]],
      leftOut: 1,
    })
  })

  it('keep the service’s own, whatever is said', async () => {
    const own = tool('search_knowledge', 'Searches.', { isBuiltIn: true })
    const { tools } = await fitTools([...numbered(300), own], { characters: 2000, topic: ['number 7'] })
    expect(names(tools)).toContain('search_knowledge')
    expect(names(tools)).toContain('tool_7')
    expect(tools.length).toBeLessThan(40)
  })
})
