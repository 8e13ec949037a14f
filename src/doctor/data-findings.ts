import type { Configuration } from '#configuration/configuration.ts'
import type { AgentFacts, DataFacts } from './data.ts'
import { isExposed, strangersMay } from './exposure.ts'
import { type Finding, holding } from './finding.ts'

/** Returns the faults that the data show together with the configuration. */
export function findInData(
  { agents, missingAgents, lastingKeys, pendingMigrations }: DataFacts,
  configuration: Configuration,
): Finding[] {
  const rest = holding([
    [
      missingAgents.length > 0,
      'risk',
      `OIDC_ROLES names agents that are not there, and gives nothing for them: ${shortened(missingAgents)}.`,
      'Write the ids of agents. Names are looked up at the start alone: restart the service after a change of them.',
    ],
    [
      isExposed(configuration) && lastingKeys.length > 0,
      'risk',
      `API keys that may change agents never expire: ${shortened(lastingKeys)}.`,
      'Set their expires_at, or give them the role chat or viewer, as far as their programs allow.',
    ],
    [
      pendingMigrations.length > 0,
      'risk',
      `The data are of an earlier version. The next start migrates them, and earlier versions can't read them afterwards: ${pendingMigrations.join(', ')}.`,
      'Make a backup, then start the service.',
    ],
  ])
  return [...agents.flatMap(agent => findInAgent(agent, configuration)), ...rest]
}

function findInAgent(agent: AgentFacts, configuration: Configuration): Finding[] {
  const { name, isPublic, hasOpenChannels, actingTools, writesSql, hasBrowser } = agent
  const isOpenToCallers = isPublic && isExposed(configuration) && strangersMay(configuration) !== 'read'
  if (!isOpenToCallers && !hasOpenChannels) return []
  const how = isOpenToCallers ? 'without signing in' : 'by a messenger, since channel_senders is everyone'
  const who = `People who chat with the agent "${name}" ${how}`
  return holding([
    [
      actingTools.length > 0,
      'stranger',
      `${who} can make it use tools that act without asking: ${shortened(actingTools)}.`,
      'Set requiresApproval of these tools to always, or disable them.',
    ],
    [
      writesSql,
      'stranger',
      `${who} can make it change its database.`,
      'Set sql_tool_writes to false in its settings.',
    ],
    [
      hasBrowser,
      'stranger',
      `${who} can make it act in a browser, with all that the browser is signed in to.`,
      'Set browser_tools to false in its settings.',
    ],
  ])
}

const mostNamed = 5

function shortened(names: readonly string[]): string {
  const left = names.length - mostNamed
  return names.slice(0, mostNamed).join(', ') + (left > 0 ? ` and ${left} more` : '')
}
