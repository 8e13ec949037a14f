import type { AgentSecrets } from '#storage/encryption/agent-secrets.ts'
import type { NodeTypes } from '../nodes/node-types.ts'
import type { Version } from '../rows/workflows.repository.ts'
import type { Definition } from '../workflows.schema.ts'

/** Secrets by node id and then by name. */
export type NodeSecrets = Record<string, Readonly<Record<string, string>>>

export async function readSecrets(
  agentSecrets: Pick<AgentSecrets, 'read'>,
  agentId: string,
  secretSet: string | null,
): Promise<NodeSecrets> {
  const stored = await agentSecrets.read(agentId, secretSet)
  return Object.fromEntries(Object.entries(stored).map(([id, secrets]) => [id, JSON.parse(secrets)]))
}

interface Change {
  agentId: string
  wanted: Definition
  /** The version whose secrets replace masks. */
  before: Version
}

/** Stores the secrets, and returns the version to store; returns `before` if nothing has changed. */
export async function protectDefinition(
  { agentSecrets, types }: { agentSecrets: AgentSecrets; types: NodeTypes },
  { agentId, wanted, before }: Change,
): Promise<Version> {
  const keptSecrets = await readSecrets(agentSecrets, agentId, before.secret_set)
  const { nodes, secrets } = takeSecrets(wanted, types, before, keptSecrets)
  const { edges } = wanted
  const isSame =
    JSON.stringify([nodes, edges, secrets]) === JSON.stringify([before.nodes, before.edges, keptSecrets])
  if (isSame) return before
  const texts = Object.entries(secrets).map(([id, own]) => [id, JSON.stringify(own)])
  return { nodes, edges, secret_set: await agentSecrets.write(agentId, Object.fromEntries(texts)) }
}

function takeSecrets({ nodes }: Definition, types: NodeTypes, before: Definition, keptSecrets: NodeSecrets) {
  const secrets: NodeSecrets = {}
  const shown = nodes.map(node => {
    const { protect } = types.get(node.type) ?? {}
    if (protect === undefined) return node
    const former = before.nodes.find(({ id, type }) => id === node.id && type === node.type)
    const known = former && { data: former.data as never, secrets: keptSecrets[node.id] ?? {} }
    const { data, secrets: own } = protect(node.data as never, known, `node ${node.id}: data`)
    if (Object.keys(own).length > 0) secrets[node.id] = own
    return { ...node, data }
  })
  return { nodes: shown, secrets }
}
