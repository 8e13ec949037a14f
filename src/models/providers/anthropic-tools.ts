import type { CallOptions, ToolDefinition } from '../language-model/language-model.ts'

/**
 * Anthropic rejects a prompt that contains tool calls without definitions of those tools, even if none may be called
 * any more: such a prompt gets bare definitions, and a choice that forbids calls.
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
 * Marks where a cached beginning of the prompt may end: after the tools, the system message and the last message but one. The
 * service takes four marks at most.
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
