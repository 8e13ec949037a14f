import type { Provider } from '../providers/provider.ts'

interface Account {
  apiKey?: string | undefined
  /** The base address; defaults to the public address. */
  baseUrl?: string | undefined
}

/** The operator's configuration for the whole platform. */
export interface ModelConfiguration {
  openai?: Account | undefined
  anthropic?: Account | undefined
  google?: Account | undefined
  openaiCompatible?: { baseUrl: string; apiKey?: string | undefined } | undefined
  /** The provider and model for agents without a choice. */
  defaultProvider?: Provider | undefined
  defaultModel?: string | undefined
  embeddingProvider: EmbeddingProvider
  embeddingModel?: string | undefined
}

export const embeddingProviders = ['builtin', 'openai', 'openai-compatible', 'google', 'local'] as const
export type EmbeddingProvider = (typeof embeddingProviders)[number]

/** An agent's own choices; names are those of its settings. */
export interface AgentChoice {
  settings: {
    llm_provider?: string | undefined
    llm_model?: string | undefined
    llm_base_url?: string | undefined
    /** The window in tokens. */
    llm_context_window?: number | undefined
    embedding_provider?: string | undefined
    embedding_model?: string | undefined
  }
  /** The agent's own credentials in clear text, by the name of their setting; others are ignored. */
  credentials: Readonly<Record<string, string | undefined>>
}
