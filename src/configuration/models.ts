import { isAbsolute } from 'node:path'
import { Type } from 'typebox'
import { dollarsForm, maxTokens } from '#platform/http/monthly-budget.ts'
import { readModelPrices } from './model-prices.ts'
import { group, isWebAddress, key, oneOf, optional, webAddress, whole } from './variables.ts'

const providers = ['openai', 'anthropic', 'google', 'openai-compatible', 'builtin'] as const
const embeddingProviders = ['builtin', 'openai', 'openai-compatible', 'google', 'local'] as const

/** Declares a provider's address, which requests extend with their paths. */
function providerAddress() {
  return optional('an http or https address without a query', {
    check: value => isWebAddress(value) && !value.includes('?'),
  })
}

function limits(monthly_tokens: number | undefined, monthly_usd: string | undefined) {
  return { monthly_tokens, monthly_usd }
}

/** Language and embedding models that agents use unless they have their own. */
export const models = group({
  variables: {
    OPENAI_API_KEY: key(),
    OPENAI_BASE_URL: providerAddress(),
    ANTHROPIC_API_KEY: key(),
    ANTHROPIC_BASE_URL: providerAddress(),
    GOOGLE_GENERATIVE_AI_API_KEY: key(),
    GOOGLE_BASE_URL: providerAddress(),
    OPENAI_COMPATIBLE_BASE_URL: webAddress(),
    OPENAI_COMPATIBLE_API_KEY: key(),
    DEFAULT_PROVIDER: Type.Optional(oneOf(providers)),
    DEFAULT_MODEL: optional('a model id'),
    EMBEDDING_PROVIDER: oneOf(embeddingProviders, 'builtin'),
    EMBEDDING_MODEL: optional('a model id, or a folder'),
    MODEL_PRICES: optional('the path of a JSON file'),
    BUDGET_MONTHLY_TOKENS: Type.Optional(whole(undefined, 1, maxTokens)),
    BUDGET_MONTHLY_USD: optional('US dollars, such as 12.50', { pattern: dollarsForm }),
    BUDGET_PERSON_MONTHLY_TOKENS: Type.Optional(whole(undefined, 1, maxTokens)),
    BUDGET_PERSON_MONTHLY_USD: optional('US dollars, such as 12.50', { pattern: dollarsForm }),
  },
  problems({ EMBEDDING_PROVIDER: provider, EMBEDDING_MODEL: model, MODEL_PRICES: prices }) {
    const read = readModelPrices(prices)
    if ('problem' in read) return [`MODEL_PRICES ${read.problem}`]
    if (provider === 'openai-compatible' && model === undefined)
      return ['EMBEDDING_MODEL must be set when EMBEDDING_PROVIDER is openai-compatible.']
    if (provider === 'local' && !isAbsolute(model ?? ''))
      return [
        "EMBEDDING_MODEL must be the absolute path of the model's folder when EMBEDDING_PROVIDER is local.",
      ]
    return []
  },
  read(environment) {
    const prices = readModelPrices(environment.MODEL_PRICES)
    const { OPENAI_COMPATIBLE_BASE_URL: baseUrl, OPENAI_COMPATIBLE_API_KEY: apiKey } = environment
    return {
      modelPrices: 'prices' in prices ? prices.prices : {},
      /** Monthly budgets for the credentials below: for all turns, and for each person. */
      houseLimits: {
        all: limits(environment.BUDGET_MONTHLY_TOKENS, environment.BUDGET_MONTHLY_USD),
        person: limits(environment.BUDGET_PERSON_MONTHLY_TOKENS, environment.BUDGET_PERSON_MONTHLY_USD),
      },
      models: {
        openai: { apiKey: environment.OPENAI_API_KEY, baseUrl: environment.OPENAI_BASE_URL },
        anthropic: { apiKey: environment.ANTHROPIC_API_KEY, baseUrl: environment.ANTHROPIC_BASE_URL },
        google: { apiKey: environment.GOOGLE_GENERATIVE_AI_API_KEY, baseUrl: environment.GOOGLE_BASE_URL },
        openaiCompatible: baseUrl === undefined ? undefined : { baseUrl, apiKey },
        defaultProvider: environment.DEFAULT_PROVIDER,
        defaultModel: environment.DEFAULT_MODEL,
        embeddingProvider: environment.EMBEDDING_PROVIDER,
        embeddingModel: environment.EMBEDDING_MODEL,
      },
    }
  },
})
