import type { Provider } from '../providers/provider.ts'

interface Account {
  apiKey?: string | undefined
  /** The public address when unset. */
  baseUrl?: string | undefined
}

/** What the operator has set for the whole platform. */
export interface ModelConfiguration {
  openai?: Account | undefined
  anthropic?: Account | undefined
  google?: Account | undefined
  openaiCompatible?: { baseUrl: string; apiKey?: string | undefined } | undefined
  /** Provider and model of an agent that has chosen none. */
  defaultProvider?: Provider | undefined
  defaultModel?: string | undefined
  embeddingProvider: EmbeddingProvider
  embeddingModel?: string | undefined
}

export const embeddingProviders = ['builtin', 'openai', 'openai-compatible', 'google', 'local'] as const
export type EmbeddingProvider = (typeof embeddingProviders)[number]

/** What an agent has chosen for itself; names as in its settings. */
export interface AgentChoice {
  settings: {
    llm_provider?: string | undefined
    llm_model?: string | undefined
    llm_base_url?: string | undefined
    embedding_provider?: string | undefined
    embedding_model?: string | undefined
  }
  /** The agent's own, in clear text, by their setting's name; others than the models' are not looked at. */
  credentials: Readonly<Record<string, string | undefined>>
}
