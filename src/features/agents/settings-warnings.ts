import { AppError } from '#platform/errors.ts'
import { hasNumbers } from '#platform/phone-number.ts'
import type { SettingsWarning, StoredSettings } from './settings.schema.ts'
import type { Credentials } from './settings.service.ts'

interface Agent {
  settings: StoredSettings
  credentials: Credentials
}

interface Dependencies {
  inForce(agent: Agent): { provider: string; model: string }
  /** Prices by the model's id, or by `provider/id`. */
  modelPrices: Readonly<Record<string, unknown>>
  /** Returns the problems that would keep the model in force from answering. */
  problems(agent: Agent): Promise<SettingsWarning[]>
  /** Throws the reason if the outbound guard refuses the address. */
  requirePermitted(address: string, field: string): Promise<void>
}

/**
 * Warns of settings that are valid one by one but fail together. None is rejected: they can be set one after another, and
 * their dependencies can change.
 */
export function createSettingsWarnings({ inForce, modelPrices, problems, requirePermitted }: Dependencies) {
  return async (agent: Agent): Promise<SettingsWarning[]> => {
    const { llm_base_url: address, mail_from, monthly_usd, phone_country } = agent.settings
    const { provider, model } = inForce(agent)
    const isPriced = provider === 'builtin' || (modelPrices[`${provider}/${model}`] ?? modelPrices[model])
    const warnings: SettingsWarning[] = []
    const add = (field: string, issue: string) => warnings.push({ field, issue })
    if (agent.credentials.smtp_url !== undefined && mail_from === undefined)
      add('mail_from', 'must name the sender of mail through smtp_url')
    if (monthly_usd !== undefined && !isPriced)
      add(
        'monthly_usd',
        `counts only what services report that they charge: MODEL_PRICES has no price of the model "${model}"`,
      )
    if (phone_country !== undefined && !(await hasNumbers(phone_country)))
      add(
        'phone_country',
        `${phone_country} is no country that has telephone numbers, such as GB for the United Kingdom`,
      )
    if (address !== undefined && provider !== 'openai-compatible')
      add('llm_base_url', `is for the provider "openai-compatible"; the provider is "${provider}"`)
    if (address !== undefined)
      await requirePermitted(address, 'llm_base_url').catch(reason => {
        if (!(reason instanceof AppError)) throw reason
        add('llm_base_url', reason.message)
      })
    return [...warnings, ...(await problems(agent))]
  }
}
