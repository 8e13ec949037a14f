/** The context of a sealed credential: moved to another agent, or renamed, it does not open. */
export function credentialContext(agentId: string, name: string): string[] {
  return ['agent credential', agentId, name]
}
