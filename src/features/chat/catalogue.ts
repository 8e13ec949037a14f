import type { Static } from 'typebox'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { modelSchema } from './chat.schema.ts'
import type { Tool } from './turn/turn.ts'

interface Needs {
  modelsOf(agentId: string): Promise<Static<typeof modelSchema>[]>
  toolsFor(agent: AgentHandle): readonly Tool[]
}

/** What a caller can choose from: the agent's models and the tools that come with the service. */
export function createCatalogue({ modelsOf, toolsFor }: Needs) {
  return {
    models: modelsOf,
    tools: (agent: AgentHandle) =>
      toolsFor(agent).map(({ name, description, parameters }) => ({ name, description, parameters })),
  }
}

export type Catalogue = ReturnType<typeof createCatalogue>
