/** The context that a credential is sealed with: if its row is moved to another agent, or renamed, it does not open. */
export function credentialContext(agentId: string, name: string): string[] {
  return ['agent credential', agentId, name]
}
