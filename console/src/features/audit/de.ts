import { formatNumber } from '#console/i18n/format.ts'
import type { en } from './text.ts'

export default {
  entries: 'Änderungen',
  count: count => (count === 1 ? '1 Änderung' : `${formatNumber(count)} Änderungen`),
  download: 'Herunterladen',
  none: 'Keine Änderungen',
  noneText: 'Jede Änderung des Agenten steht hier, mit dem, der sie gemacht hat.',
  noneSuch: 'Zu diesen Filtern passt keine Änderung.',
  filters: 'Filter',
  filter: 'Filtern',
  all: 'Alle',
  time: 'Zeit',
  kind: 'Art des Aufrufers',
  actor: 'Wer',
  actorId: 'Aufrufer',
  person: 'Person, die den Schlüssel anlegte',
  address: 'Von der Adresse',
  operation: 'Vorgang',
  object: 'Gegenstand',
  outcome: 'Ausgang',
  changes: 'Was sich geändert hat',
  kinds: {
    person: 'Person',
    key: 'Schlüssel',
    anonymous: 'Aufrufer ohne Benutzer',
    model: 'Modell',
    channel: 'Kanal',
    schedule: 'Zeitplan',
    workflow: 'Ablauf',
  },
  outcomes: { done: 'ausgeführt', refused: 'abgelehnt', failed: 'gescheitert' },
} satisfies typeof en
