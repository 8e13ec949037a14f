import type { BuiltInsOf } from '#features/collect-tools.ts'
import type { Feature } from '#features/feature.ts'
import type { McpService } from '#features/mcp/mcp.service.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { nameTools } from '#models/tools/tool-name.ts'
import { createHttpCall } from './calling/http-call.ts'
import { createJavascriptCall } from './calling/javascript-call.ts'
import { createToolCalls } from './calling/tool-calls.ts'
import { registerCredentialRoutes } from './credentials.routes.ts'
import { createCredentialsService } from './credentials.service.ts'
import { registerImportRoutes } from './import.routes.ts'
import { createImportService } from './import.service.ts'
import { createImportRequestReader } from './import-request.ts'
import { createOfferedTools } from './offered-tools.ts'
import { createOpenApiReader } from './openapi/openapi-reader.ts'
import { registerToolRoutes } from './tools.routes.ts'
import { createToolsService } from './tools.service.ts'

/** Manages the tools that people add to an agent, and those of its MCP servers. */
export function createTools(
  infrastructure: Infrastructure,
  { mcp, builtInsOf }: { mcp: McpService; builtInsOf: BuiltInsOf },
): Feature {
  const { agentSecrets, outbound, documentWorkers, sandbox, clock, ids } = infrastructure
  const { maxUploadBytes } = infrastructure.configuration
  const credentials = createCredentialsService({ agentSecrets, clock })
  const calls = createToolCalls({
    agentSecrets,
    credentials,
    http: createHttpCall(outbound),
    javascript: createJavascriptCall(sandbox),
    mcp: (agent, { serverId, toolName }, given, signal) => mcp.call(agent, serverId, toolName, given, signal),
  })
  const offered = createOfferedTools({ calls, findMcpTool: mcp.find })
  const tools = createToolsService({
    agentSecrets,
    offered,
    findMcpTool: mcp.find,
    builtInsOf,
    sandbox,
    clock,
    ids,
  })
  const imports = createImportService({
    readRequest: createImportRequestReader(documentWorkers),
    readDocument: createOpenApiReader(documentWorkers),
    outbound,
    maxBytes: maxUploadBytes,
    clock,
    ids,
  })
  return {
    routes(app) {
      registerToolRoutes(app, tools)
      registerCredentialRoutes(app, credentials)
      registerImportRoutes(app, { imports, maxBytes: Math.ceil((maxUploadBytes * 4) / 3) })
    },
    async tools(agent, taken) {
      const given = await offered.all(agent)
      const own = nameTools(given.tools, taken)
      const names = new Set([...taken, ...own.map(({ name }) => name)])
      return [...own, ...(await mcp.tools(agent, { taken: names, except: given.wrapped }))]
    },
  }
}
