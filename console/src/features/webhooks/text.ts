import { formatList, formatNumber } from '#console/i18n/format.ts'
import { defineText } from '#console/i18n/text.ts'

const maxNamed = 3

export const en = {
  webhooks: 'Webhooks',
  count: (count: number) => (count === 1 ? '1 webhook' : `${formatNumber(count)} webhooks`),
  none: 'No webhooks yet',
  noneText: 'A webhook is an address of yours that is sent the events of this agent, signed, as they happen.',
  add: 'Add webhook',
  edit: 'Change webhook',
  save: 'Save',
  url: 'Address',
  urlHint: 'It must be reachable from this server.',
  events: 'Events',
  eventsHint: 'One name per line, such as message.sent or source.ready; * stands for all of them.',
  eventsOf: (events: readonly string[]) =>
    events.includes('*')
      ? 'all'
      : events.length > maxNamed
        ? `${events.slice(0, maxNamed).join(', ')} and ${formatNumber(events.length - maxNamed)} more`
        : formatList(events),
  state: 'State',
  changed: 'Changed',
  states: { enabled: 'enabled', disabled: 'disabled', failing: 'failing' },
  secret: 'Secret of the webhook',
  secretText: 'It signs every delivery, so that the receiver can verify it. It is shown only now: copy it.',
  actionsOf: (url: string) => `Actions for ${url}`,
  test: 'Send a test',
  tested: 'A test was sent: its result is in the list.',
  enable: 'Enable',
  disable: 'Disable',
  replaceSecret: 'Replace the secret',
  replaceText: 'For 24 hours deliveries are signed with both secrets.',
  replace: 'Replace',
  delete: 'Delete',
  deleteTitle: 'Delete this webhook?',
  deleteText: 'Its deliveries are deleted with it, also those that are still to be sent.',
  deliveries: 'Deliveries',
  noDeliveries: 'No deliveries',
  noDeliveriesText: 'Those of the last 30 days stand here. Send a test to see whether the address answers.',
  statuses: { all: 'All', pending: 'pending', succeeded: 'succeeded', failed: 'failed' },
  event: 'Event',
  attempts: 'Attempts',
  code: 'Status code',
  duration: 'Duration',
  time: 'Time',
  next: 'Next attempt',
  answer: 'Answer',
  retry: 'Send again',
  retried: 'It is sent again now.',
}

export const text = defineText(en, { de: () => import('./de.ts') })
