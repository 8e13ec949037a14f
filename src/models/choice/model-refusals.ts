import { AppError } from '#platform/errors.ts'
import type { Provider } from '../providers/provider.ts'

/** Ids that are safe in a body, a path and a log line; only the provider knows if the model exists. */
export const modelIdForm = /^(?!.*\.\.)[^\p{Cc}?#%\\]{1,200}$/u

export function unknownModel(provider: Provider, modelId?: string): AppError {
  const model = modelId === undefined ? 'a model of that name' : `the model "${modelId.slice(0, 200)}"`
  return new AppError(
    'MODEL_UNKNOWN',
    `The provider "${provider}" does not have ${model}: choose one that chat/models lists.`,
  )
}

export function chooseOne(provider: Provider, setting: string, variable: string): AppError {
  return new AppError(
    'MODEL_NOT_CONFIGURED',
    `The provider "${provider}" names no model of its own: set ${setting} in the agent's settings, or ${variable} on the server.`,
  )
}

/** Returns the error for a server without a list of models: it has none, or the address is wrong. */
export function noModelListed(provider: Provider): AppError {
  const hint = provider.startsWith('openai') ? ' (did you leave out /v1?)' : ''
  return new AppError(
    'MODEL_NOT_CONFIGURED',
    `The provider "${provider}" lists no models: check its base URL${hint}, or set llm_model in the agent's settings, or DEFAULT_MODEL on the server.`,
  )
}

export function listMissing(provider: Provider): AppError {
  return new AppError(
    'MODEL_ERROR',
    `The provider "${provider}" did not tell which models it has: check that it runs, its address and its key, or name a model.`,
  )
}
