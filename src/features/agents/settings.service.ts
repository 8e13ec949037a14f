import { type Clock, timestamp } from '#platform/clock.ts'
import { describeChange } from '#platform/current-change.ts'
import type { SecretBox } from '#platform/encryption/secret-box.ts'
import { AppError, invalid, notFound, required } from '#platform/errors.ts'
import { parseTarget } from '#platform/outbound/target-url.ts'
import { credentialContext } from '#storage/encryption/credential-context.ts'
import type { SettingsRepository } from './settings.repository.ts'
import {
  type CredentialName,
  credentialNames,
  type SettingsChanges,
  type SettingsWarning,
  type StoredSettings,
} from './settings.schema.ts'

export type { StoredSettings } from './settings.schema.ts'

/** Temperature for models that support one, if the agent has chosen none. */
const defaultTemperature = 0.7

interface Dependencies {
  repository: SettingsRepository
  secretBox: SecretBox
  /** Returns the provider and model in force, based on the agent's settings and credentials. */
  modelInForce(agent: { settings: StoredSettings; credentials: Credentials }): {
    provider: string
    model: string
  }
  /** Returns how the agent's settings fail together. */
  warningsOf(agent: { settings: StoredSettings; credentials: Credentials }): Promise<SettingsWarning[]>
  /** Throws the reason if documents of an agent with these settings and credentials can't be embedded. */
  requireEmbedding(agent: { settings: StoredSettings; credentials: Credentials }): Promise<unknown>
  /** Throws the reason if the agent can't notify the contact. */
  requireReachable(agentId: string, notify: NonNullable<StoredSettings['notify']>): Promise<unknown>
  /** Max conversations that an agent can keep. */
  maxConversations: number
  /** Called after a change, with the names of the changed settings. */
  emitChanged(agentId: string, names: readonly string[]): Promise<void>
  clock: Clock
}

export type Credentials = Partial<Record<CredentialName, string>>

export function createSettingsService(needs: Dependencies) {
  const { repository, secretBox, modelInForce, requireEmbedding, maxConversations, emitChanged, clock } =
    needs

  async function inForce(agentId: string, stored: StoredSettings) {
    const names = await credentialsOf(agentId)
    // Only the presence of a key matters, so none is decrypted.
    const credentials = Object.fromEntries(Object.keys(names).map(name => [name, 'set']))
    const { provider, model } = modelInForce({ settings: stored, credentials })
    return { ...stored, llm_temperature: temperatureOf(stored), llm_provider: provider, llm_model: model }
  }

  async function credentialsOf(agentId: string): Promise<Record<string, true>> {
    const rows = await repository.listCredentials(agentId)
    return Object.fromEntries(rows.map(({ name }) => [name, true]))
  }

  function seal(agentId: string, credentials: Record<string, string | null>): Record<string, string | null> {
    const entries = Object.entries(credentials).map(([name, value]) => [
      name,
      value === null ? null : secretBox.seal(value, credentialContext(agentId, name)),
    ])
    return Object.fromEntries(entries)
  }

  /**
   * Returns the agent as its models need it. Credentials are in clear text: for requests to their own service,
   * never for a response.
   */
  async function profileOf(agentId: string) {
    const profile = await repository.findProfile(agentId)
    if (profile === undefined) throw notFound('Agent')
    const opened = profile.credentials.map(({ name, sealed }) => [
      name,
      secretBox.open(sealed, credentialContext(agentId, name)),
    ])
    return { ...profile, credentials: Object.fromEntries(opened) as Credentials }
  }

  /** Returns the agent for its models as it would be after the changes. */
  async function withChanges(agentId: string, changes: SettingsChanges) {
    const { settings, credentials } = await profileOf(agentId)
    const changed = { ...credentials, ...credentialChanges(settings, changes) }
    const kept = Object.entries(changed).filter(([, value]) => value !== null)
    return { settings: applyChanges(settings, changes), credentials: Object.fromEntries(kept) as Credentials }
  }

  async function warnings(agentId: string): Promise<SettingsWarning[]> {
    try {
      return await needs.warningsOf(await profileOf(agentId))
    } catch (error) {
      // A stored key that can't be decrypted must not prevent its replacement.
      if (error instanceof AppError) return [{ field: 'credentials', issue: error.message }]
      throw error
    }
  }

  async function answerOf(agentId: string, stored: StoredSettings) {
    const settings = await inForce(agentId, stored)
    return { settings, credentials: await credentialsOf(agentId), warnings: await warnings(agentId) }
  }

  return {
    /** Returns the settings as they take effect: chosen values, and the defaults for the rest. */
    inForce,

    async get(agentId: string) {
      const profile = await repository.findProfile(agentId)
      return await answerOf(agentId, required(profile, 'Agent').settings)
    },

    /** Changes the settings in the body and leaves the others; null resets one. */
    async update(agentId: string, changes: SettingsChanges) {
      checkAddress(changes.llm_base_url)
      checkHosts(changes.browse_hosts)
      checkConversations(changes.conversations_max, maxConversations)
      if (changes.notify) await needs.requireReachable(agentId, changes.notify)
      if (choosesEmbedding(changes)) await requireEmbedding(await withChanges(agentId, changes))
      const settings = await repository.change(agentId, timestamp(clock), stored => {
        const credentials = credentialChanges(stored, changes)
        describeChange(detailsOf(stored, { ...changes, ...credentials }))
        return { settings: applyChanges(stored, changes), sealed: seal(agentId, credentials) }
      })
      if (settings === undefined) throw notFound('Agent')
      await emitChanged(agentId, Object.keys(changes))
      return await answerOf(agentId, settings)
    },

    profileOf,
  }
}

function checkHosts(hosts: readonly string[] | null | undefined): void {
  const wrong = hosts?.findIndex(host => !URL.canParse(`http://${host.replace('*.', '')}`)) ?? -1
  if (wrong >= 0) throw invalid(`browse_hosts.${wrong}`, 'is not a host such as example.com or *.example.com')
}

function checkConversations(wanted: number | null | undefined, most: number): void {
  if ((wanted ?? 0) <= most) return
  const issue = `must be at most ${most}, the value of CONVERSATIONS_MAX`
  throw invalid('conversations_max', issue)
}

export function temperatureOf(stored: StoredSettings): number {
  return stored.llm_temperature ?? defaultTemperature
}

/** Returns how long a turn waits for a person, in seconds. */
export function waitSecondsOf({ approval_timeout = 86_400 }: StoredSettings): number {
  return approval_timeout
}

export type SettingsService = ReturnType<typeof createSettingsService>

function isCredential(name: string): name is CredentialName {
  return (credentialNames as readonly string[]).includes(name)
}

/** Returns the changes for the audit log, without secrets. */
function detailsOf(stored: Record<string, unknown>, changes: Record<string, unknown>) {
  const detail = (name: string, to: unknown) =>
    isCredential(name) ? (to === null ? 'removed' : 'changed') : { from: stored[name] ?? null, to }
  return Object.fromEntries(Object.entries(changes).map(([name, to]) => [name, detail(name, to)]))
}

function applyChanges(stored: StoredSettings, changes: SettingsChanges): StoredSettings {
  const settings = Object.entries(changes).filter(([name]) => !isCredential(name))
  const merged = { ...stored, ...Object.fromEntries(settings) }
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null)) as StoredSettings
}

function credentialChanges(stored: StoredSettings, changes: SettingsChanges): Record<string, string | null> {
  const given = Object.entries(changes).filter(([name]) => isCredential(name)) as [string, string | null][]
  const addressChanges =
    'llm_base_url' in changes && (changes.llm_base_url ?? undefined) !== stored.llm_base_url
  // A key for one server must never be sent to another.
  return { ...(addressChanges ? { openai_compatible_api_key: null } : {}), ...Object.fromEntries(given) }
}

/** Returns true for changes that choose an embedding: an unavailable one is rejected, but resetting it never is. */
function choosesEmbedding({ embedding_provider, embedding_model }: SettingsChanges): boolean {
  return (embedding_provider ?? embedding_model ?? null) !== null
}

/** Rejects addresses that the outbound guard would never accept, and those with a password, which responses would show. */
function checkAddress(address: string | null | undefined): void {
  if (address === null || address === undefined) return
  const target = parseTarget(address)
  if (!target.ok) throw invalid('llm_base_url', target.reason)
}
