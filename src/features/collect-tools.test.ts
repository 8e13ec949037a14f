import { expect, it } from 'vitest'
import type { Tool } from '#models/tools/tool.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { collectTools } from './collect-tools.ts'

it('a rule is for the built-in tool, also where a tool of the agent has taken its name', async () => {
  const own = { name: 'x402_fetch' } as Tool
  const builtIn = { name: 'x402_fetch', isBuiltIn: true } as Tool
  const { toolsOf } = collectTools({
    features: () => [{ tools: () => [own] }, { tools: () => [builtIn] }],
    record: (_agent, tool) => tool,
    rulesOf: async () => ({ x402_fetch: { enabled: false } }),
  })
  const offered = await toolsOf({ agentId: 'default' } as AgentHandle)
  expect(offered.map(({ name, isBuiltIn = false }) => ({ name, isBuiltIn }))).toEqual([
    { name: 'x402_fetch', isBuiltIn: false },
  ])
})
