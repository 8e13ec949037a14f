import { formatNumber } from '#console/i18n/format.ts'
import { defineText } from '#console/i18n/text.ts'

export const en = {
  entries: 'Changes',
  count: (count: number) => (count === 1 ? '1 change' : `${formatNumber(count)} changes`),
  download: 'Download',
  none: 'No changes',
  noneText: 'Every change of the agent is remembered here, with who made it.',
  noneSuch: 'No change is like these filters.',
  filters: 'Filters',
  filter: 'Filter',
  all: 'All',
  time: 'Time',
  kind: 'Kind of caller',
  actor: 'Who',
  actorId: 'Caller',
  person: 'Person who made the key',
  address: 'From the address',
  operation: 'Operation',
  operationExample: 'updateSettings',
  object: 'Object',
  outcome: 'Outcome',
  changes: 'What has changed',
  kinds: {
    person: 'Person',
    key: 'Key',
    anonymous: 'Caller without a user',
    model: 'Model',
    channel: 'Channel',
    contact: 'Contact',
    schedule: 'Schedule',
    workflow: 'Workflow',
  },
  outcomes: { done: 'done', refused: 'refused', failed: 'failed' },
}

export const text = defineText(en, { de: () => import('./de.ts') })
