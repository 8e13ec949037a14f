import { formatNumber } from '#console/i18n/format.ts'
import type { en } from './text.ts'

export default {
  servers: 'MCP-Server',
  count: count => `${formatNumber(count)} Server`,
  name: 'Name',
  nameHint: 'Beginnt die Namen seiner Werkzeuge, wo zwei gleich heißen.',
  url: 'Adresse',
  urlHint: 'Die seines MCP-Endpunkts, http oder https.',
  token: 'Bearer-Token',
  tokenHint: 'Nur wenn der Server eines verlangt. Es wird verschlüsselt gespeichert und nie gezeigt.',
  status: 'Zustand',
  states: { connected: 'verbunden', disconnected: 'nicht erreichbar', error: 'Fehler' },
  added: 'Angelegt',
  none: 'Noch keine MCP-Server',
  noneText:
    'Ein Server des Model Context Protocol bietet Werkzeuge über HTTP an. Wer ihn anlegt, gibt die Werkzeuge frei, die er dann hat.',
  add: 'Server anlegen',
  registered: name => `„${name}“ ist angelegt.`,
  back: 'Alle Server',
  refresh: 'Neu lesen',
  remove: 'Löschen',
  removeTitle: name => `„${name}“ löschen?`,
  removeText:
    'Sein Token, seine Werkzeuge und ihre Freigaben werden mit gelöscht. Das lässt sich nicht rückgängig machen.',
  removed: name => `„${name}“ ist gelöscht.`,
  reading: 'Der Server wird nach seinen Werkzeugen gefragt …',
  waiting: count =>
    count === 1 ? '1 Definition freizugeben' : `${formatNumber(count)} Definitionen freizugeben`,
  waitingText:
    'Modelle können diese Werkzeuge erst aufrufen, wenn ein Mensch gelesen und freigegeben hat, was der Server darüber sagt.',
  approve: 'Freigeben',
  approveAll: count => `Alle ${formatNumber(count)} freigeben`,
  approveTool: name => `${name} freigeben`,
  approved: count =>
    count === 1 ? '1 Werkzeug ist freigegeben.' : `${formatNumber(count)} Werkzeuge sind freigegeben.`,
  isNew: 'neu',
  isChanged: 'geändert',
  changes: name => `Was sich an ${name} geändert hat`,
  definition: name => `Definition von ${name}`,
  unknownBefore: 'Was früher freigegeben wurde, ist nicht mehr bekannt. Dies ist die jetzige Definition.',
  otherChanged:
    'Beschreibung und Argumente sind gleich. Titel, Anmerkungen oder das Schema der Ergebnisse haben sich geändert.',
  offered: 'Freigegebene Werkzeuge',
  noTools: 'Keine freigegebenen Werkzeuge',
  noToolsText: 'Modellen wird kein Werkzeug dieses Servers angeboten.',
  ownTool: 'Zum eigenen Werkzeug machen',
  skipped: count =>
    count === 1
      ? '1 Werkzeug ist nicht verwendbar'
      : `${formatNumber(count)} Werkzeuge sind nicht verwendbar`,
} satisfies typeof en
