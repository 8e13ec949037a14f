/** What the settings tell the features above, right after a change. */
export interface SettingsEvents {
  'settings.changed': { agentId: string; names: readonly string[] }
}
