/** What a credential is sealed with: a row moved to another agent, or renamed, does not open. */
export function credentialContext(agentId: string, name: string): string[] {
  return ['agent credential', agentId, name]
}
