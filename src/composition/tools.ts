import type { McpService } from '#features/mcp/mcp.service.ts'
import { createHttpCall } from '#features/tools/calling/http-call.ts'
import { createJavascriptCall } from '#features/tools/calling/javascript-call.ts'
import { createToolCalls } from '#features/tools/calling/tool-calls.ts'
import { registerCredentialRoutes } from '#features/tools/credentials.routes.ts'
import { createCredentialsService } from '#features/tools/credentials.service.ts'
import { registerImportRoutes } from '#features/tools/import.routes.ts'
import { createImportService } from '#features/tools/import.service.ts'
import { createImportRequestReader } from '#features/tools/import-request.ts'
import { createOfferedTools } from '#features/tools/offered-tools.ts'
import { createOpenApiReader } from '#features/tools/openapi/openapi-reader.ts'
import { registerToolRoutes } from '#features/tools/tools.routes.ts'
import type { ToolsService } from '#features/tools/tools.service.ts'
import { createToolsService } from '#features/tools/tools.service.ts'
import type { App } from '#platform/http/app.ts'
import type { Configuration } from '../config.ts'
import type { Foundation } from './foundation.ts'
import type { Surroundings } from './surroundings.ts'

interface Needs {
  foundation: Foundation
  surroundings: Surroundings
  configuration: Configuration
  mcp: McpService
}

/** Composes the tools feature and registers its routes. */
export function composeTools(
  app: App,
  { foundation, surroundings, configuration, mcp }: Needs,
): ToolsService {
  const { agentSecrets, outbound, documentWorkers, sandbox } = foundation
  const { clock, ids } = surroundings
  const { maxUploadBytes } = configuration
  const credentials = createCredentialsService({ agentSecrets, clock })
  const calls = createToolCalls({
    agentSecrets,
    credentials,
    http: createHttpCall(outbound),
    javascript: createJavascriptCall(sandbox),
    mcp: (agent, { serverId, toolName }, given, signal) => mcp.call(agent, serverId, toolName, given, signal),
  })
  const offered = createOfferedTools({ calls, findMcpTool: mcp.find })
  const tools = createToolsService({ agentSecrets, offered, findMcpTool: mcp.find, clock, ids })
  const imports = createImportService({
    readRequest: createImportRequestReader(documentWorkers),
    readDocument: createOpenApiReader(documentWorkers),
    outbound,
    maxBytes: maxUploadBytes,
    clock,
    ids,
  })
  registerToolRoutes(app, tools)
  registerCredentialRoutes(app, credentials)
  registerImportRoutes(app, { imports, maxBytes: Math.ceil((maxUploadBytes * 4) / 3) })
  return tools
}
