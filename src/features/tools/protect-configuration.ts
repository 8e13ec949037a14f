import { invalid } from '#platform/errors.ts'
import type { HttpConfiguration } from './calling/http-configuration.ts'
import { isImported } from './calling/http-configuration.ts'
import { originOf } from './configuration.ts'
import { putSecrets, takeSecrets } from './header-secrets.ts'
import type { AgentTool } from './tools.schema.ts'

type Secrets = Record<string, string>

/**
 * A tool's configuration as stored and shown, separated from its secrets.
 * @param before the previous tool, whose secrets are `kept`: never for another origin than they were given for.
 */
export function protectConfiguration(
  { type, configuration }: AgentTool,
  before: AgentTool | undefined,
  kept: Secrets,
): { configuration: AgentTool['configuration']; secrets: Secrets } {
  const http = configuration as HttpConfiguration
  if (type !== 'http' || isImported(http)) return { configuration, secrets: {} }
  const isSameOrigin =
    before !== undefined && originOf(before.configuration as HttpConfiguration) === originOf(http)
  const { headers, secrets } = takeSecretsFor(http.headers, kept, isSameOrigin)
  return { configuration: { ...configuration, ...(headers === undefined ? {} : { headers }) }, secrets }
}

/** The configuration for a call, including secrets. */
export function openConfiguration(configuration: HttpConfiguration, secrets: Secrets): HttpConfiguration {
  if (isImported(configuration)) return configuration
  const headers = putSecrets(configuration.headers, secrets)
  return { ...configuration, ...(headers === undefined ? {} : { headers }) }
}

function takeSecretsFor(headers: string | undefined, kept: Secrets, isSameOrigin: boolean) {
  if (isSameOrigin) return takeSecrets(headers, kept)
  try {
    return takeSecrets(headers, {})
  } catch (error) {
    if (Object.keys(kept).length === 0) throw error
    throw invalid(
      'configuration.headers',
      'the address leads to another server, which must not get the secrets of the former one; enter their values again',
    )
  }
}
