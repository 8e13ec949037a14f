/** The events of the settings, emitted right after a change. */
export interface SettingsEvents {
  'settings.changed': { agentId: string; names: readonly string[] }
}
