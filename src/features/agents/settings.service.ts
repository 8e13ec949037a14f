import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import { invalid, notFound } from '#platform/errors.ts'
import type { SettingsRepository } from './settings.repository.ts'
import type { CredentialName, SettingsChanges, StoredSettings } from './settings.schema.ts'
import { credentialNames } from './settings.schema.ts'

/** Sent to models that take one, when the agent has chosen none. */
const defaultTemperature = 0.7

/** Seals text so that only this agent's credential of this name opens it. */
export interface Sealer {
  seal(text: string, owner: string): string
  open(sealed: string, owner: string): string
}

interface Needs {
  repository: SettingsRepository
  secretBox: Sealer
  /** The provider and model in force when the settings choose none. */
  modelInForce(settings: StoredSettings): { provider: string; model: string }
  clock: Clock
}

export type Credentials = Partial<Record<CredentialName, string>>

export function createSettingsService({ repository, secretBox, modelInForce, clock }: Needs) {
  function inForce(stored: StoredSettings) {
    const { provider, model } = modelInForce(stored)
    return { llm_temperature: defaultTemperature, ...stored, llm_provider: provider, llm_model: model }
  }

  return {
    inForce,

    /** Changes the given keys and leaves the others; null takes a key back. */
    async update(agentId: string, changes: SettingsChanges) {
      const stored = await repository.find(agentId)
      if (stored === undefined) throw notFound('Agent')
      checkAddress(changes.llm_base_url)
      const settings = applyChanges(stored, changes)
      const sealed = new Map(
        Object.entries(credentialChanges(stored, changes)).map(([name, value]) => [
          name,
          value === null ? null : secretBox.seal(value, sealOwner(agentId, name)),
        ]),
      )
      await repository.save(agentId, settings, sealed, timestamp(clock))
      const set = await repository.listCredentials(agentId)
      return {
        settings: inForce(settings),
        credentials: Object.fromEntries(set.map(({ name }) => [name, true])),
      }
    },

    /** The agent's credentials in clear text: for use against the service they belong to, never for an answer. */
    async openCredentials(agentId: string): Promise<Credentials> {
      const rows = await repository.listCredentials(agentId)
      return Object.fromEntries(
        rows.map(({ name, sealed }) => [name, secretBox.open(sealed, sealOwner(agentId, name))]),
      )
    },
  }
}

export type SettingsService = ReturnType<typeof createSettingsService>

/** What a sealed value is bound to: moved to another agent or name, it does not open. */
export function sealOwner(agentId: string, name: string): string {
  return `${agentId}/${name}`
}

function isCredential(name: string): name is CredentialName {
  return (credentialNames as readonly string[]).includes(name)
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
  // A key given for one server must never be sent to another.
  return { ...(addressChanges ? { openai_compatible_api_key: null } : {}), ...Object.fromEntries(given) }
}

function checkAddress(address: string | null | undefined): void {
  if (address === null || address === undefined) return
  const isWeb = URL.canParse(address) && ['http:', 'https:'].includes(new URL(address).protocol)
  if (!isWeb) throw invalid('llm_base_url', 'must be an http or https address')
}
