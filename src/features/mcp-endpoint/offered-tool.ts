import type { ChatFeature } from '#features/chat/chat.feature.ts'
import type { Tool } from '#models/tools/tool.ts'
import { resultOf } from './call-result.ts'
import type { CallResult, ToolDescriptor } from './mcp-endpoint.schema.ts'

/** A tool in the form that this endpoint offers. */
export interface OfferedTool {
  descriptor: ToolDescriptor
  /** Returns the problem of the arguments, or undefined. */
  check(input: Record<string, unknown>): Promise<string | undefined>
  /** Calls the tool. Only the message of an AppError is shown if this throws. */
  call(input: Record<string, unknown>, call: Call): Promise<CallResult>
}

export interface Call {
  /** Aborted when the client goes away, the agent is deleted or the process ends. */
  signal: AbortSignal
  asker: ReturnType<ChatFeature['askerInMcpSession']>
  /** The conversation of the caller's chats without a conversation. */
  conversationId: string
  /** Reports progress to the client, if requested. */
  progress(message: string): void
  /** Counts the call for the chat limit of the client's address. Throws RATE_LIMITED. */
  countChat(): Promise<void>
}

/** Offers a model's tool to clients; `shorten` limits the size of its results. */
export function offer(
  tool: Tool,
  shorten: (result: unknown) => unknown,
  annotations?: ToolDescriptor['annotations'],
): OfferedTool {
  const { name, description, parameters: inputSchema } = tool
  return {
    descriptor: { name, description, inputSchema, ...(annotations === undefined ? {} : { annotations }) },
    check: input => tool.check(input),
    call: async (input, { signal }) => resultOf(shorten(await tool.execute(input, signal))),
  }
}

/** Returns one tool for each name: the first of several. */
export function withUniqueNames(tools: readonly OfferedTool[]): OfferedTool[] {
  const first = new Map<string, OfferedTool>()
  for (const tool of tools) if (!first.has(tool.descriptor.name)) first.set(tool.descriptor.name, tool)
  return [...first.values()]
}
