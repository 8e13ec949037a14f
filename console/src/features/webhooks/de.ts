import { formatList, formatNumber } from '#console/i18n/format.ts'
import type { en } from './text.ts'

const maxNamed = 3

export default {
  webhooks: 'Webhooks',
  count: count => (count === 1 ? '1 Webhook' : `${formatNumber(count)} Webhooks`),
  none: 'Noch keine Webhooks',
  noneText:
    'Ein Webhook ist eine Adresse von Ihnen, an die Ereignisse dieses Agenten signiert gesendet werden.',
  add: 'Webhook anlegen',
  edit: 'Webhook ändern',
  save: 'Speichern',
  url: 'Adresse',
  urlHint: 'Dieser Server muss sie erreichen.',
  events: 'Ereignisse',
  eventsHint: 'Ein Name je Zeile, etwa message.sent oder source.ready; * steht für alle.',
  eventsOf: events =>
    events.includes('*')
      ? 'alle'
      : events.length > maxNamed
        ? `${events.slice(0, maxNamed).join(', ')} und ${formatNumber(events.length - maxNamed)} weitere`
        : formatList(events),
  state: 'Stand',
  changed: 'Geändert',
  states: { enabled: 'eingeschaltet', disabled: 'ausgeschaltet', failing: 'scheitert' },
  secret: 'Geheimnis des Webhooks',
  secretText:
    'Es signiert jede Lieferung, so dass der Empfänger sie prüfen kann. Es wird nur jetzt gezeigt: kopieren.',
  actionsOf: url => `Aktionen für ${url}`,
  test: 'Test senden',
  tested: 'Ein Test ist gesendet: Sein Ergebnis steht in der Liste.',
  enable: 'Einschalten',
  disable: 'Ausschalten',
  replaceSecret: 'Geheimnis ersetzen',
  replaceText: '24 Stunden lang sind Lieferungen mit beiden Geheimnissen signiert.',
  replace: 'Ersetzen',
  delete: 'Löschen',
  deleteTitle: 'Diesen Webhook löschen?',
  deleteText: 'Seine Lieferungen werden mit gelöscht, auch die noch ausstehenden.',
  deliveries: 'Lieferungen',
  noDeliveries: 'Keine Lieferungen',
  noDeliveriesText: 'Hier stehen die der letzten 30 Tage. Ein Test zeigt, ob die Adresse antwortet.',
  statuses: { all: 'Alle', pending: 'ausstehend', succeeded: 'zugestellt', failed: 'gescheitert' },
  event: 'Ereignis',
  attempts: 'Versuche',
  code: 'Statuscode',
  duration: 'Dauer',
  time: 'Zeit',
  next: 'Nächster Versuch',
  answer: 'Antwort',
  retry: 'Erneut senden',
  retried: 'Sie wird jetzt erneut gesendet.',
} satisfies typeof en
