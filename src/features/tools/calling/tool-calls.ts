import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentSecrets } from '#storage/encryption/agent-secrets.ts'
import type { JavascriptConfiguration, McpConfiguration } from '../configuration.ts'
import type { CredentialsService } from '../credentials.service.ts'
import { openConfiguration } from '../protect-configuration.ts'
import type { StoredTool } from '../tools.repository.ts'
import type { HttpCaller } from './http-call.ts'
import type { Credentials, HttpConfiguration } from './http-configuration.ts'
import type { JavascriptCaller } from './javascript-call.ts'

type Arguments = Record<string, unknown>

interface Dependencies {
  agentSecrets: AgentSecrets
  credentials: CredentialsService
  http: HttpCaller
  javascript: JavascriptCaller
  mcp(agent: AgentHandle, tool: McpConfiguration, given: Arguments, signal: AbortSignal): Promise<unknown>
}

/** Calls a tool as its type demands. Throws AppError with a sentence for the model. */
export function createToolCalls({ agentSecrets, credentials, http, javascript, mcp }: Dependencies) {
  async function callHttp(agent: AgentHandle, tool: StoredTool, given: Arguments, signal: AbortSignal) {
    const own = await agentSecrets.read(agent.agentId, tool.secretSet)
    const shared = await credentials.forTool(agent, tool)
    const configuration = openConfiguration(tool.configuration as HttpConfiguration, own)
    const secrets = [...Object.values(own), ...secretsOf(shared)]
    return http({ configuration, credentials: shared, secrets }, given, signal)
  }

  return {
    call(agent: AgentHandle, tool: StoredTool, given: Arguments, signal: AbortSignal): Promise<unknown> {
      if (tool.type === 'http') return callHttp(agent, tool, given, signal)
      if (tool.type === 'mcp') return mcp(agent, tool.configuration as McpConfiguration, given, signal)
      return javascript(agent.agentId, tool.configuration as JavascriptConfiguration, given, signal)
    },
  }
}

export type ToolCalls = ReturnType<typeof createToolCalls>

function secretsOf(credentials: Credentials): string[] {
  return Object.values(credentials).flatMap(value =>
    typeof value === 'string' ? value : [value.password, basicPair(value)],
  )
}

function basicPair({ username, password }: Exclude<Credentials[string], string>): string {
  return `${username}:${password}`
}
