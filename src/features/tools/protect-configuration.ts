import { putSecrets, takeSecrets } from '#platform/outbound/header-secrets.ts'
import { type HttpConfiguration, isImported } from './calling/http-configuration.ts'
import { parseHeaders } from './calling/manual-template.ts'
import { namesIn } from './calling/placeholders.ts'
import { originOf } from './configuration.ts'
import type { AgentTool } from './tools.schema.ts'

type Secrets = Record<string, string>

/**
 * Separates a tool's secrets from its configuration as stored and shown.
 * @param before the previous tool, whose secrets are `kept`: never for another origin than their own.
 */
export function protectConfiguration(
  { type, configuration }: AgentTool,
  before: AgentTool | undefined,
  kept: Secrets,
): { configuration: AgentTool['configuration']; secrets: Secrets } {
  const http = configuration as HttpConfiguration
  if (type !== 'http' || isImported(http) || http.headers === undefined) return { configuration, secrets: {} }
  const isSameOrigin =
    before !== undefined && originOf(before.configuration as HttpConfiguration) === originOf(http)
  const { headers, secrets } = takeSecrets(
    parseHeaders(http.headers) ?? [],
    { secrets: kept, isSameOrigin },
    { field: 'configuration.headers', visibleIn: placeholdersIn },
  )
  return {
    configuration: { ...configuration, headers: JSON.stringify(Object.fromEntries(headers)) },
    secrets,
  }
}

/** Returns the configuration for a call, including secrets. */
export function openConfiguration(configuration: HttpConfiguration, secrets: Secrets): HttpConfiguration {
  if (isImported(configuration) || configuration.headers === undefined) return configuration
  const headers = putSecrets(parseHeaders(configuration.headers) ?? [], secrets)
  return { ...configuration, headers: JSON.stringify(Object.fromEntries(headers)) }
}

function placeholdersIn(value: string): string {
  return namesIn(value)
    .map(name => `{${name}}`)
    .join('')
}
