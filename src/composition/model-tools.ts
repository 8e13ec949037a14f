import type { SettingsService } from '#features/agents/settings.service.ts'
import { browseUrl } from '#features/chat/builtin-tools/browse-url.ts'
import { executeSql } from '#features/chat/builtin-tools/execute-sql.ts'
import { searchKnowledge } from '#features/chat/builtin-tools/search-knowledge.ts'
import type { McpService } from '#features/mcp/mcp.service.ts'
import type { KnowledgeService } from '#features/sources/knowledge.service.ts'
import { listDocuments } from '#features/sources/knowledge.service.ts'
import { createPageReader } from '#features/sources/page-reader.service.ts'
import type { SqlService } from '#features/sql/sql.service.ts'
import type { ToolsService } from '#features/tools/tools.service.ts'
import type { Tool } from '#models/tools/tool.ts'
import { nameTools } from '#models/tools/tool-name.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { Foundation } from './foundation.ts'

interface Needs {
  foundation: Foundation
  settings: SettingsService
  knowledge: KnowledgeService
  sql: SqlService
  tools: ToolsService
  mcp: McpService
}

/** The tools that a model may call, created for each agent that uses them. */
export function createModelTools({ foundation, settings, knowledge, sql, tools, mcp }: Needs) {
  const readPage = createPageReader(foundation.documentWorkers)

  const knowledgeTool = (agent: AgentHandle): Tool =>
    searchKnowledge({
      lookUp: (query, limit, signal) => knowledge.lookUp(agent, { query, limit }, signal),
      documents: () => listDocuments(agent),
    })

  const sqlTool = (agent: AgentHandle): Tool =>
    executeSql({
      sql: (statement, signal) => sql.execute(agent, statement, signal),
      mayWrite: async () => (await settings.profileOf(agent.agentId)).settings.sql_tool_writes === true,
    })

  const builtIn = (agent: AgentHandle): Tool[] => {
    const own = [knowledgeTool(agent), browseUrl(foundation.outbound, readPage), sqlTool(agent)]
    return own.map(tool => ({ ...tool, isBuiltIn: true }))
  }

  return {
    /** The tool that searches the agent's own documents. */
    knowledgeTool,
    /** The tools that come with the service. */
    builtIn,
    /** The built-in tools, the agent's own, and those of its MCP servers, all with different names. */
    async all(agent: AgentHandle): Promise<Tool[]> {
      const given = await tools.tools(agent)
      const own = nameTools([...builtIn(agent), ...given.tools])
      const taken = new Set(own.map(({ name }) => name))
      return [...own, ...(await mcp.tools(agent, { taken, except: given.wrapped }))]
    },
  }
}

export type ModelTools = ReturnType<typeof createModelTools>
