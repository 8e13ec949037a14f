import { fromForeignSchema } from '#models/tools/foreign-schema.ts'
import { AppError, conflict, invalid } from '#platform/errors.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { type OutgoingCall, ServerRefusal } from './client/connect.ts'
import { findTool, parametersOf, type ServerRow } from './mcp.repository.ts'
import type { ServerAccess } from './server-access.ts'
import { errorText, readResult, type ToolResult, withoutSecret } from './tool-result.ts'

interface ToolCall {
  agent: AgentHandle
  row: ServerRow
  toolName: string
  input: Record<string, unknown>
  signal: AbortSignal
}

type StoredTool = Awaited<ReturnType<typeof findTool>>
type JudgedTool = { tool: NonNullable<StoredTool> } | { problem: string }

/** Returns the tool if it may be called, otherwise the reason as a sentence. */
export function judgeTool(server: string, name: string, tool: StoredTool): JudgedTool {
  if (tool === undefined || tool.position === null)
    return { problem: `The MCP server "${server}" has no tool "${name}".` }
  if (tool.approved_hash === tool.definition_hash) return { tool }
  const what = `The tool "${name}" of the MCP server "${server}"`
  return {
    problem:
      tool.approved_hash === null
        ? `${what} is new: a person has to approve it first.`
        : `${what} has changed since it was approved: a person has to approve it again.`,
  }
}

/**
 * Calls a tool if its definition is the approved one, even after a new read of the server's list.
 * @throws AppError with a sentence that a model may read.
 */
export async function callApprovedTool(access: ServerAccess, call: ToolCall): Promise<ToolResult> {
  const { agent, row } = call
  await approvedCall(call)
  const signal = AbortSignal.any([call.signal, agent.signal])
  return access.use(agent, row, {
    signal,
    async run({ connection, token }) {
      const outgoing = await approvedCall(call)
      const result = await connection.callTool(outgoing, signal).catch((error: unknown) => {
        throw error instanceof ServerRefusal ? failed(call.toolName, error.message, token) : error
      })
      return answerOf(result, call.toolName, token)
    },
  })
}

/** Returns the call to send, with the schema that a person has approved. */
async function approvedCall({ agent, row, toolName, input }: ToolCall): Promise<OutgoingCall> {
  const judged = judgeTool(row.name, toolName, await findTool(agent.db, row.id, toolName))
  if ('problem' in judged) throw conflict(judged.problem)
  const parameters = parametersOf(judged.tool.parameters)
  const issue = await fromForeignSchema(parameters).check(input)
  if (issue !== undefined) throw invalid('', issue)
  return { name: toolName, parameters, arguments: input }
}

function answerOf(received: unknown, toolName: string, token: string | undefined): ToolResult {
  const { isError, odd, ...result } = readResult(received)
  if (isError) throw failed(toolName, errorText(result), token)
  if (odd.length === 0) return withoutSecret(result, token)
  const note = `The tool "${toolName}" did run, but a part of its result was left out: ${odd.slice(0, 10).join('; ')}.`
  if (Object.keys(result).length === 0) throw new AppError('TOOL_FAILED', withoutSecret(note, token))
  return withoutSecret({ ...result, note }, token)
}

function failed(toolName: string, reason: string, token: string | undefined): AppError {
  const shown = withoutSecret(reason, token).slice(0, 2000).toWellFormed()
  return new AppError('OUTBOUND_FAILED', `The tool "${toolName}" failed: ${shown || 'it gave no reason.'}`)
}
