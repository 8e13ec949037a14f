import type { ChatFeature } from '#features/chat/chat.feature.ts'
import type { Tool } from '#models/tools/tool.ts'
import { resultOf } from './call-result.ts'
import type { CallResult, ToolDescriptor } from './mcp-endpoint.schema.ts'

/** A tool as this endpoint offers it. */
export interface OfferedTool {
  descriptor: ToolDescriptor
  /** The problem of the arguments, or undefined. */
  check(input: Record<string, unknown>): Promise<string | undefined>
  /** May throw: only the message of an AppError is shown. */
  call(input: Record<string, unknown>, call: Call): Promise<CallResult>
}

/** One call of a tool. */
export interface Call {
  /** Aborted when the client goes away, the agent is deleted or the process ends. */
  signal: AbortSignal
  /** The caller as the sender of messages. */
  asker: ReturnType<ChatFeature['askerInMcpSession']>
  /** The conversation of the caller's chats that name none. */
  conversationId: string
  /** Reports progress to the client, if it wants that. */
  progress(message: string): void
  /** Counts the call against the chat limit of the client's address. Throws RATE_LIMITED. */
  countChat(): Promise<void>
}

/** A tool that models call, offered to clients; `shorten` bounds what it may answer with. */
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

/** One tool for each name: the first, where there are several. */
export function withUniqueNames(tools: readonly OfferedTool[]): OfferedTool[] {
  const first = new Map<string, OfferedTool>()
  for (const tool of tools) if (!first.has(tool.descriptor.name)) first.set(tool.descriptor.name, tool)
  return [...first.values()]
}
