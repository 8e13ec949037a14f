import { type Clock, timestamp } from '#platform/clock.ts'
import { invalid, notFound } from '#platform/errors.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentSecrets } from '#storage/encryption/agent-secrets.ts'
import { type Credentials, type HttpConfiguration, isImported } from './calling/http-configuration.ts'
import { originOf } from './configuration.ts'
import { listCredentials, type StoredCredential, setSecret } from './credentials.repository.ts'
import type { CredentialValues, ToolCredential } from './credentials.schema.ts'
import { listCluster } from './tools.repository.ts'
import type { AgentTool } from './tools.schema.ts'

interface Dependencies {
  agentSecrets: AgentSecrets
  clock: Clock
}

/** A value with its permitted origins, stored where no SQL of the agent can change them. */
interface Bound {
  value: Credentials[string]
  origins: string[]
}

const secretName = 'credential'

/** Manages credentials of clusters of imported tools. */
export function createCredentialsService({ agentSecrets, clock }: Dependencies) {
  async function requireAll({ db }: AgentHandle, cluster: string) {
    const [credentials, tools] = [await listCredentials(db, cluster), await listCluster(db, cluster)]
    if (credentials.length === 0 && tools.length === 0) throw notFound('Cluster')
    return { credentials, tools }
  }

  async function list(agent: AgentHandle, cluster: string): Promise<ToolCredential[]> {
    const { credentials, tools } = await requireAll(agent, cluster)
    return credentials.map(credential => toPublicCredential(credential, tools))
  }

  async function replace(
    agent: AgentHandle,
    cluster: string,
    { scheme: { name }, secretSet }: StoredCredential,
    bound: Bound | null,
  ): Promise<void> {
    const secrets: Record<string, string> = bound === null ? {} : { [secretName]: JSON.stringify(bound) }
    const fresh = await agentSecrets.write(agent.agentId, secrets)
    const change = { cluster, name, secretSet: fresh, at: timestamp(clock) }
    await inTransaction(agent.db, transaction => setSecret(transaction, change))
    await agentSecrets.remove(agent.agentId, [secretSet])
  }

  return {
    list,

    /** Sets credentials, each for the origins that the cluster's tools call with it now; null removes one. */
    async fill(agent: AgentHandle, cluster: string, values: CredentialValues): Promise<ToolCredential[]> {
      const { credentials: known, tools } = await requireAll(agent, cluster)
      const filled = Object.entries(values).map(([name, value]) => {
        const credential = known.find(({ scheme }) => scheme.name === name)
        if (credential === undefined)
          throw invalid(name, `is no credential of this cluster; it has ${namesOf(known)}`)
        checkForm(credential, value)
        return { credential, bound: value === null ? null : { value, origins: originsUsing(tools, name) } }
      })
      for (const { credential, bound } of filled) await replace(agent, cluster, credential, bound)
      return list(agent, cluster)
    },

    /** Returns the credentials of a tool for the service that it calls: only those stored for this origin. */
    async forTool(agent: AgentHandle, { cluster = '', configuration }: AgentTool): Promise<Credentials> {
      const names = schemesOf(configuration as HttpConfiguration)
      if (names.length === 0) return {}
      const origin = originOf(configuration as HttpConfiguration)
      const credentials: Credentials = Object.create(null)
      for (const { scheme, secretSet } of await listCredentials(agent.db, cluster)) {
        if (secretSet === null || !names.includes(scheme.name)) continue
        const { [secretName]: sealed } = await agentSecrets.read(agent.agentId, secretSet)
        const bound: Bound | undefined = sealed === undefined ? undefined : JSON.parse(sealed)
        if (bound?.origins.includes(origin)) credentials[scheme.name] = bound.value
      }
      return credentials
    },
  }
}

export type CredentialsService = ReturnType<typeof createCredentialsService>

/** @param tools the tools of the cluster. */
export function toPublicCredential(
  { scheme, secretSet }: StoredCredential,
  tools: readonly AgentTool[],
): ToolCredential {
  return { ...scheme, isSet: secretSet !== null, origins: originsUsing(tools, scheme.name) }
}

function namesOf(credentials: readonly StoredCredential[]): string {
  return credentials.length === 0 ? 'none' : credentials.map(({ scheme }) => scheme.name).join(', ')
}

function checkForm({ scheme: { name, type } }: StoredCredential, value: CredentialValues[string]): void {
  if (value === null) return
  if (type === 'basic' && typeof value === 'string') throw invalid(name, 'must be {username, password}')
  if (type !== 'basic' && typeof value !== 'string') throw invalid(name, 'must be a text: the key or token')
}

function originsUsing(tools: readonly AgentTool[], scheme: string): string[] {
  const using = tools
    .map(({ configuration }) => configuration as HttpConfiguration)
    .filter(configuration => schemesOf(configuration).includes(scheme))
  return [...new Set(using.map(originOf))].filter(origin => origin !== '')
}

function schemesOf(configuration: HttpConfiguration): string[] {
  if (!isImported(configuration)) return []
  return (configuration.security ?? []).flat().map(({ scheme }) => scheme)
}
