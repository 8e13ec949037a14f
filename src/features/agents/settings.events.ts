/** The events of agents and their settings, emitted right after a change. */
export interface SettingsEvents {
  /** The agent answers and runs again. */
  'agent.activated': { agentId: string }
  'settings.changed': { agentId: string; names: readonly string[] }
}
