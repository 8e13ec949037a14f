import { defineText } from '#console/i18n/text.ts'

export const en = {
  usage: 'Usage',
  month: 'This month',
  monthText: (from: string, to: string) => `From ${from} to ${to}, by days of UTC.`,
  groups: { day: 'By day', model: 'By model', person: 'By person', key: 'By key' },
  columns: { day: 'Day', model: 'Model', person: 'Person', key: 'Key' },
  turns: 'Turns',
  calls: 'Calls of models',
  input: 'Tokens in',
  cached: (count: string) => `${count} of them from caches`,
  output: 'Tokens out',
  estimated: 'Tokens, estimated',
  tokens: 'Tokens',
  cost: 'Cost',
  unknown: 'not known',
  noPerson: 'nobody',
  noKey: 'without a key',
  otherKey: (id: string) => `another key (${id})`,
  unpriced: (count: string) =>
    `Calls whose price is not known: ${count}. The operator names prices in a file (MODEL_PRICES).`,
  budgets: 'Budget',
  noBudget: 'No budget of its own bounds what the agent may spend in a month.',
  left: (used: string, limit: string, rest: string) => `${used} of ${limit}, ${rest} left`,
  spent: (limit: string) => `${limit} spent: nothing is answered until the next month begins.`,
  change: 'Change the budget',
  none: 'Nothing used this month',
  noneText: 'Each call of a model is counted here, by day, model, person and key.',
}

export const text = defineText(en, { de: () => import('./de.ts') })
