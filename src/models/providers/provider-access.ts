import { AppError } from '#platform/errors.ts'
import type { AgentChoice, ModelConfiguration } from '../choice/model-configuration.ts'
import { withAddressAccess } from '../transport/address-access.ts'
import { baseAddress } from '../transport/base-address.ts'
import { sendDirectly } from '../transport/send-directly.ts'
import { type Endpoint, type Provider, providers, type RemoteProvider, type WayOut } from './provider.ts'
import { adapterOf } from './providers.ts'

/** The setting and the variable that make a provider usable. */
const names = {
  openai: { setting: 'openai_api_key', variable: 'OPENAI_API_KEY' },
  anthropic: { setting: 'anthropic_api_key', variable: 'ANTHROPIC_API_KEY' },
  google: { setting: 'google_api_key', variable: 'GOOGLE_GENERATIVE_AI_API_KEY' },
  'openai-compatible': { setting: 'llm_base_url', variable: 'OPENAI_COMPATIBLE_BASE_URL' },
} satisfies Record<RemoteProvider, { setting: string; variable: string }>

/** An agent's access to a provider. */
export interface Access {
  baseUrl: string
  apiKey: string | undefined
  /** The origin of the address: an operator's is trusted, an agent's goes through the outbound guard. */
  addressFrom: 'operator' | 'agent'
  /** Whose credentials pay for the calls. */
  paidBy: 'platform' | 'agent'
}

/**
 * Returns this agent's access to the provider, or undefined without credentials for it. An agent's own key
 * takes precedence over the platform's; a key of the platform is sent only to the platform's own address.
 */
export function accessTo(
  provider: RemoteProvider,
  { settings, credentials }: AgentChoice,
  configuration: ModelConfiguration,
): Access | undefined {
  if (provider === 'openai-compatible') {
    const ownKey = credentials.openai_compatible_api_key
    if (settings.llm_base_url) {
      const baseUrl = baseAddress(settings.llm_base_url)
      return { baseUrl, apiKey: ownKey, addressFrom: 'agent', paidBy: 'agent' }
    }
    const platform = configuration.openaiCompatible
    return (
      platform && {
        baseUrl: baseAddress(platform.baseUrl),
        apiKey: ownKey ?? platform.apiKey,
        addressFrom: 'operator',
        paidBy: ownKey ? 'agent' : 'platform',
      }
    )
  }
  const platform = configuration[provider]
  const own = credentials[names[provider].setting]
  const apiKey = own ?? platform?.apiKey
  const publicAddress = adapterOf(provider).publicAddress
  const baseUrl =
    platform?.baseUrl === undefined ? publicAddress : baseAddress(platform.baseUrl, publicAddress)
  const paidBy = own ? 'agent' : 'platform'
  return apiKey && baseUrl ? { baseUrl, apiKey, addressFrom: 'operator', paidBy } : undefined
}

/** Returns the providers that this agent can use, in order of preference; always includes `builtin`. */
export function usableProviders(agent: AgentChoice, configuration: ModelConfiguration): Provider[] {
  return providers.filter(
    provider => provider === 'builtin' || accessTo(provider, agent, configuration) !== undefined,
  )
}

export function notConfigured(provider: RemoteProvider): AppError {
  const { setting, variable } = names[provider]
  return new AppError(
    'MODEL_NOT_CONFIGURED',
    `The provider "${provider}" has no credentials: set ${setting} in the agent's settings, or ${variable} on the server.`,
  )
}

/** Ways to send requests, by the address's origin. To be created once: cached models depend on them. */
export type WaysOut = Record<Access['addressFrom'], WayOut>

/** Creates the ways out. A redirect is an error: model APIs have none, and it would send keys elsewhere. */
export function waysOut(fetches: { trusted: typeof fetch; outbound: typeof fetch }): WaysOut {
  return {
    operator: { fetch: withoutRedirects(withAddressAccess(fetches.trusted)), send: sendDirectly },
    agent: { fetch: withoutRedirects(fetches.outbound) },
  }
}

function withoutRedirects(send: typeof fetch): typeof fetch {
  return (input, init) => send(input, { ...init, redirect: 'error' })
}

export function endpointOf(
  { addressFrom, ...access }: Access,
  ways: WaysOut,
): Endpoint & Pick<Access, 'paidBy'> {
  return { ...access, ...ways[addressFrom] }
}
