/** Obtains the current content of a fetched source of any type. */
import type { Outbound } from '#platform/outbound/outbound.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentSecrets } from '#storage/encryption/agent-secrets.ts'
import type { ApiConfig, FetchedConfig } from '../sources.schema.ts'
import { fetchAddress } from './fetch-address.ts'
import type { FetchState, Validators } from './last-copy.ts'
import type { Fetched } from './parse-fetched.ts'
import { runQuery, type SelectRows } from './run-query.ts'
import { openHeaders } from './source-headers.ts'

export type Obtained =
  | { kind: 'content'; content: Content }
  /** Unchanged after the last copy. */
  | { kind: 'unchanged' }
  | { kind: 'failed'; reason: string }

export interface Content {
  fetched: Fetched
  /** The server's validators, to detect changes next time. */
  validators: Validators | undefined
  /** Secrets that no passage may show. */
  secrets: string[]
}

interface Dependencies {
  select: SelectRows
  outbound: Pick<Outbound, 'fetch'>
  /** The max size of an answer. */
  maxBytes: number
  agentSecrets: Pick<AgentSecrets, 'read'>
}

interface Wanted {
  agent: AgentHandle
  config: FetchedConfig
  state: FetchState
  signal: AbortSignal
}

export function createObtain(dependencies: Dependencies) {
  async function obtainAddress(config: ApiConfig, { agent, state, signal }: Wanted): Promise<Obtained> {
    const { url, headers } = config
    const sealed = await dependencies.agentSecrets.read(agent.agentId, state.secretSet)
    const opened = openHeaders(url, headers, sealed)
    if (opened === undefined) return { kind: 'failed', reason: otherAddress }
    const { secrets, ...request } = opened
    const known = state.lastCopy?.validators ?? undefined
    const { outbound, maxBytes } = dependencies
    const answer = await fetchAddress({ url, ...request, known }, { outbound, maxBytes, signal })
    if (answer.kind !== 'content') return answer
    const { fetched, validators } = answer
    return { kind: 'content', content: { fetched, validators, secrets } }
  }

  return async (wanted: Wanted): Promise<Obtained> => {
    const { agent, config, signal } = wanted
    if ('url' in config) return await obtainAddress(config, wanted)
    const selected = await runQuery(dependencies.select, agent, config.query, signal)
    if (selected.kind === 'failed') return selected
    const { fetched } = selected
    return { kind: 'content', content: { fetched, validators: undefined, secrets: [] } }
  }
}

const otherAddress =
  'The headers of this source are not those that it was created with, or were given for another server. Create it again.'
