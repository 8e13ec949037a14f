import type { AgentsService } from '#features/agents/agents.service.ts'
import type { ChatFeature } from '#features/chat/chat.feature.ts'
import { acceptArguments, coercionNote } from '#models/tools/accept-arguments.ts'
import { ruleOf } from '#models/tools/built-in-tools.ts'
import type { Tool } from '#models/tools/tool.ts'
import { AppError, conflict } from '#platform/errors.ts'
import type { Log } from '#platform/logging/log.ts'
import type { AgentDatabases, AgentHandle } from '#storage/agent-databases.ts'
import { failureOf, withText } from './call-result.ts'
import { chatTool } from './chat-tool.ts'
import type { CallResult, ToolDescriptor } from './mcp-endpoint.schema.ts'
import { type Call, type OfferedTool, offer, withUniqueNames } from './offered-tool.ts'
import { createTurns } from './turns.ts'

interface Dependencies extends Pick<ChatFeature, 'questions' | 'answering' | 'files'> {
  agents: Pick<AgentsService, 'find'>
  agentDatabases: AgentDatabases
  /** Returns the tool that searches the agent's own documents. */
  knowledgeTool(agent: AgentHandle): Tool
  /** Returns every tool that the agent may currently use. */
  toolsOf(agent: AgentHandle): Promise<readonly Tool[]>
  /** Limits the size of a tool's result. */
  shorten(result: unknown): unknown
  log: Log
}

/** The sender of a request, and its agent. */
export interface Caller extends Pick<Call, 'asker'> {
  agentId: string
  /** The conversation of the caller's chats without a conversation. */
  conversationId: string
  /** True if the caller may also change the agent. */
  isAdmin: boolean
  /** True if the caller may only chat. */
  isChatOnly: boolean
  /** Returns calls of the agent that require payment by the caller, which is not possible here. */
  soldCalls(): Promise<readonly string[]>
  countChat(): Promise<void>
}

/** Tools that do the same as API calls, by their names. */
const sameCalls = new Map([
  ['chat', '/chat'],
  ['search_knowledge', '/sources/search'],
])

type About = Awaited<ReturnType<AgentsService['find']>>

/** The tools of an agent that MCP clients may see and call. */
export function createMcpEndpointService(dependencies: Dependencies) {
  const { agents, agentDatabases, shorten, log } = dependencies

  const inTurn = createTurns()

  /** Returns tools for all callers who may chat; their names are reserved before the agent's own tools. */
  function openTools(agent: AgentHandle, about: About, { isChatOnly }: Caller): OfferedTool[] {
    const chat = chatTool(agent, about, dependencies, inTurn)
    const search = dependencies.knowledgeTool(agent)
    const { isEnabled, requiresApproval } = ruleOf(search, about.settings.builtin_tools)
    if (isChatOnly || !isEnabled || requiresApproval) return [chat]
    return [chat, offer(search, shorten, { readOnlyHint: true })]
  }

  /** Returns tools for admins; for other callers they are not even listed. */
  async function ownTools(agent: AgentHandle, { status }: About): Promise<OfferedTool[]> {
    const tools = await dependencies.toolsOf(agent)
    return tools.filter(mayBeCalledDirectly).map(tool => offer(onlyWhileActive(tool, status), shorten))
  }

  /** Returns a check of the tools that a caller is offered, by name. */
  async function isOfferedTo({ soldCalls }: Caller): Promise<(name: string) => boolean> {
    const sold = await soldCalls()
    return name => !sold.includes(sameCalls.get(name) ?? '')
  }

  async function perform(tool: OfferedTool, input: Record<string, unknown>, call: Call) {
    const { check, descriptor } = tool
    const accepted = await acceptArguments({ check, parameters: descriptor.inputSchema }, input)
    if (accepted.problem !== undefined) return failureOf(accepted.problem)
    const result = await tool.call(accepted.input, call)
    const { coerced } = accepted
    return coerced.length === 0 ? result : withText(result, coercionNote(coerced))
  }

  /** Returns the failure. Callers only get messages for callers; the rest is for the operator. */
  function failure(error: unknown, agentId: string, tool: string, signal: AbortSignal): CallResult {
    if (error instanceof AppError && error.fault === 'user') return failureOf(error.message)
    if (!signal.aborted) log.warn({ err: error, agentId, tool }, 'a tool failed that an MCP client called')
    return failureOf(error instanceof AppError ? error.message : `The tool ${tool} failed.`)
  }

  return {
    /** Returns the agent's introduction of itself. */
    async introduce(agentId: string): Promise<{ name: string; description: string }> {
      const { name, description } = await agents.find(agentId)
      return { name, description }
    },

    /** Returns the current tools of the caller. */
    list: (caller: Caller): Promise<ToolDescriptor[]> =>
      agentDatabases.use(caller.agentId, async agent => {
        const isOffered = await isOfferedTo(caller)
        const about = await agents.find(caller.agentId)
        const adminTools = caller.isAdmin ? await ownTools(agent, about) : []
        return withUniqueNames([...openTools(agent, about, caller), ...adminTools])
          .map(({ descriptor }) => descriptor)
          .filter(({ name }) => isOffered(name))
      }),

    /** Calls a tool; undefined if the caller is not offered one of this name. */
    call: (
      caller: Caller,
      { name, input }: { name: string; input: Record<string, unknown> },
      { signal: client, progress }: Pick<Call, 'signal' | 'progress'>,
    ): Promise<CallResult | undefined> => {
      const { agentId, conversationId, isAdmin, asker, countChat } = caller
      return agentDatabases.use(agentId, async agent => {
        const signal = AbortSignal.any([client, agent.signal])
        const isNamed = ({ descriptor }: OfferedTool) => descriptor.name === name
        try {
          if (!(await isOfferedTo(caller))(name)) return undefined
          const about = await agents.find(agentId)
          const open = openTools(agent, about, caller).find(isNamed)
          const tool = open ?? (isAdmin ? (await ownTools(agent, about)).find(isNamed) : undefined)
          return tool && (await perform(tool, input, { signal, progress, countChat, asker, conversationId }))
        } catch (error) {
          return failure(error, agentId, name, signal)
        }
      })
    },
  }
}

export type McpEndpointService = ReturnType<typeof createMcpEndpointService>

/** True for a tool without approval: here, no person could approve a call. */
function mayBeCalledDirectly({ requiresApproval = false }: Tool): boolean {
  return !requiresApproval
}

/** Disables a tool while the agent is paused or disabled; searches and chats have rules of their own. */
function onlyWhileActive(tool: Tool, status: string): Tool {
  if (status === 'active') return tool
  return {
    ...tool,
    check: input => tool.check(input),
    async execute() {
      throw conflict(`This agent is ${status}, so that its tools rest. Set its status to active first.`)
    },
  }
}
