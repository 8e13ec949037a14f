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
