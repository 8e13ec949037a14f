import { formatNumber } from '#console/i18n/format.ts'
import { defineText } from '#console/i18n/text.ts'

export const en = {
  servers: 'MCP servers',
  count: (count: number) => (count === 1 ? '1 server' : `${formatNumber(count)} servers`),
  name: 'Name',
  nameHint: 'Begins the names of its tools where two are called the same.',
  url: 'Address',
  urlHint: 'Of its MCP endpoint, http or https.',
  token: 'Bearer token',
  tokenHint: 'Only if the server requires one. It is stored encrypted and never shown.',
  status: 'State',
  states: { connected: 'connected', disconnected: 'not reachable', error: 'error' },
  added: 'Added',
  none: 'No MCP servers yet',
  noneText:
    'A server of the Model Context Protocol offers tools over HTTP. Adding one approves the tools that it has then.',
  add: 'Add server',
  registered: (name: string) => `“${name}” was added.`,
  back: 'All servers',
  refresh: 'Read again',
  remove: 'Delete',
  removeTitle: (name: string) => `Delete “${name}”?`,
  removeText: 'Its token, its tools and what was approved are deleted with it. This can’t be undone.',
  removed: (name: string) => `“${name}” was deleted.`,
  reading: 'The server is being asked for its tools …',
  waiting: (count: number) =>
    count === 1 ? '1 definition to approve' : `${formatNumber(count)} definitions to approve`,
  waitingText:
    'Models can’t call these tools until a person has read and approved what the server says about them.',
  approve: 'Approve',
  approveAll: (count: number) => `Approve all ${formatNumber(count)}`,
  approveTool: (name: string) => `Approve ${name}`,
  approved: (count: number) =>
    count === 1 ? '1 tool was approved.' : `${formatNumber(count)} tools were approved.`,
  isNew: 'new',
  isChanged: 'changed',
  changes: (name: string) => `What has changed in ${name}`,
  definition: (name: string) => `Definition of ${name}`,
  unknownBefore: 'What was approved before is not known any more. This is the definition now.',
  otherChanged:
    'Description and arguments are the same. Its title, its annotations or the schema of its results changed.',
  offered: 'Approved tools',
  noTools: 'No approved tools',
  noToolsText: 'Models are offered no tool of this server.',
  ownTool: 'Make it a tool of its own',
  skipped: (count: number) =>
    count === 1 ? '1 tool can’t be used' : `${formatNumber(count)} tools can’t be used`,
}

export const text = defineText(en, { de: () => import('./de.ts') })
