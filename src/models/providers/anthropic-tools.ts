import type { CallOptions, ToolDefinition } from '../language-model/language-model.ts'

/**
 * Adds bare definitions of tools to a prompt with tool calls, and a choice that forbids calls: Anthropic
 * rejects tool calls without definitions, even if no further calls are allowed.
 */
export function withToolsOfPrompt(options: CallOptions): CallOptions {
  if (options.tools !== undefined && options.tools.length > 0) return options
  const names = new Set(
    options.prompt.flatMap(message =>
      message.role === 'assistant'
        ? message.content.flatMap(part => (part.type === 'tool-call' ? part.toolName : []))
        : [],
    ),
  )
  if (names.size === 0) return options
  const tools = [...names].map(
    (name): ToolDefinition => ({ type: 'function', name, inputSchema: { type: 'object' } }),
  )
  return { ...options, tools, toolChoice: { type: 'none' } }
}

const mark = { anthropic: { cacheControl: { type: 'ephemeral' } } } as const

/**
 * Marks where a cached beginning of the prompt can end: after the tools, the system message and the last
 * message but one. The service accepts at most four marks.
 */
export function withCacheMarks({ tools = [], prompt, ...options }: CallOptions): CallOptions {
  const marked = new Set<unknown>([
    tools.at(-1),
    prompt.findLast(({ role }) => role === 'system'),
    prompt.at(-2),
  ])
  const withMark = <Part extends { providerOptions?: object }>(part: Part): Part =>
    marked.has(part) ? { ...part, providerOptions: { ...part.providerOptions, ...mark } } : part
  return {
    ...options,
    prompt: prompt.map(withMark),
    ...(tools.length > 0 && { tools: tools.map(tool => (tool.type === 'function' ? withMark(tool) : tool)) }),
  }
}
