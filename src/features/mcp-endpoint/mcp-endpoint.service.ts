import type { AgentsService } from '#features/agents/agents.service.ts'
import type { ChatFeature } from '#features/chat/chat.feature.ts'
import { acceptArguments, coercionNote } from '#models/tools/accept-arguments.ts'
import type { Tool } from '#models/tools/tool.ts'
import { AppError, conflict } from '#platform/errors.ts'
import type { Log } from '#platform/logging/log.ts'
import type { AgentDatabases, AgentHandle } from '#storage/agent-databases.ts'
import { failureOf, withText } from './call-result.ts'
import { chatTool } from './chat-tool.ts'
import type { CallResult, ToolDescriptor } from './mcp-endpoint.schema.ts'
import type { Call, OfferedTool } from './offered-tool.ts'
import { offer, withUniqueNames } from './offered-tool.ts'
import { createTurns } from './turns.ts'

interface Dependencies extends Pick<ChatFeature, 'questions' | 'answering' | 'files'> {
  agents: Pick<AgentsService, 'find'>
  agentDatabases: AgentDatabases
  /** Looks something up in the agent's own documents. */
  knowledgeTool(agent: AgentHandle): Tool
  /** Every tool that the agent may use just now. */
  toolsOf(agent: AgentHandle): Promise<readonly Tool[]>
  /** Bounds the result of a tool. */
  shorten(result: unknown): unknown
  log: Log
}

/** Who sent a request, and to which agent. */
export interface Caller extends Pick<Call, 'asker'> {
  agentId: string
  /** The conversation of all their chats that name none. */
  conversationId: string
  /** Whether they could also change the agent. */
  isAdmin: boolean
  /** Whether they may chat, and do nothing else. */
  isChatOnly: boolean
  /** The calls of the agent that they would have to pay for, which is not possible here. */
  soldCalls(): Promise<readonly string[]>
  countChat(): Promise<void>
}

/** The work of API calls as tools, by their names. */
const sameCalls = new Map([
  ['chat', '/chat'],
  ['search_knowledge', '/sources/search'],
])

type About = Awaited<ReturnType<AgentsService['find']>>

/** The tools of an agent that MCP clients may see and call. */
export function createMcpEndpointService(needs: Dependencies) {
  const { agents, agentDatabases, shorten, log } = needs

  const inTurn = createTurns()

  /** For all callers who may chat; their names are reserved before the agent's own tools get theirs. */
  function openTools(agent: AgentHandle, about: About, { isChatOnly }: Caller): OfferedTool[] {
    const chat = chatTool(agent, about, needs, inTurn)
    return isChatOnly ? [chat] : [chat, offer(needs.knowledgeTool(agent), shorten, { readOnlyHint: true })]
  }

  /** For admins; for other callers these tools are not even listed. */
  async function ownTools(agent: AgentHandle, { status }: About): Promise<OfferedTool[]> {
    const tools = await needs.toolsOf(agent)
    return tools.filter(mayBeCalledDirectly).map(tool => offer(onlyWhileActive(tool, status), shorten))
  }

  /** Whether a caller is offered a tool with a name. */
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

  /** Callers get only messages that were meant for them; the rest is for the operator. */
  function failure(error: unknown, agentId: string, tool: string, signal: AbortSignal): CallResult {
    if (error instanceof AppError && error.fault === 'user') return failureOf(error.message)
    if (!signal.aborted) log.warn({ err: error, agentId, tool }, 'a tool failed that an MCP client called')
    return failureOf(error instanceof AppError ? error.message : `The tool ${tool} failed.`)
  }

  return {
    /** How the agent introduces itself. */
    async introduce(agentId: string): Promise<{ name: string; description: string }> {
      const { name, description } = await agents.find(agentId)
      return { name, description }
    },

    /** The tools that the caller may call, as they are now. */
    list: (caller: Caller): Promise<ToolDescriptor[]> =>
      agentDatabases.use(caller.agentId, async agent => {
        const isOffered = await isOfferedTo(caller)
        const about = await agents.find(caller.agentId)
        const own = caller.isAdmin ? await ownTools(agent, about) : []
        return withUniqueNames([...openTools(agent, about, caller), ...own])
          .map(({ descriptor }) => descriptor)
          .filter(({ name }) => isOffered(name))
      }),

    /** Calls a tool; undefined if the caller is not offered one with this name. */
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

/** No person is here who could approve a tool that needs approval in a chat. */
function mayBeCalledDirectly({ requiresApproval = false }: Tool): boolean {
  return !requiresApproval
}

/** Searching and chatting have rules of their own for an agent that is paused or disabled; its tools then rest. */
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
