import { formatNumber } from '#console/i18n/format.ts'
import { defineText } from '#console/i18n/text.ts'

export const en = {
  count: (count: number) =>
    count === 1 ? 'One thing waits for you' : `${formatNumber(count)} things wait for you`,
  label: 'What waits for a person',
  none: 'Nothing needs you',
  noneText:
    'Approvals, takeovers, changed tools, unmatched payments, waiting or failed runs and failed sources show here.',
  more: (count: number) => `${formatNumber(count)} older ones follow once these are decided.`,
  kinds: {
    tool_approval: 'Tool call',
    workflow_approval: 'Workflow asks',
    takeover: 'Browser takeover',
    mcp_definition: 'Changed MCP tool',
    payment_notification: 'Unmatched payment',
    waiting_execution: 'Waiting run',
    failed_execution: 'Failed run',
    failed_source: 'Failed source',
    failed_notice: 'Notice not sent',
  },
  approve: 'Approve',
  reject: 'Reject',
  approved: (name: string) => `“${name}” was approved.`,
  denied: (name: string) => `“${name}” was denied.`,
  openConversation: 'Open conversation',
  openRun: 'Open run',
  retry: 'Retry',
  retried: 'The run has started again.',
  terminate: 'Terminate',
  terminateTitle: (name: string) => `Terminate the run of “${name}”?`,
  terminateText: 'It goes no further than the step at which it waits.',
  terminated: 'The run was terminated.',
  waitsUntil: 'It goes on at',
  takeOver: 'Take over',
  handBack: 'Hand back',
  handedBack: 'The agent goes on with the browser.',
  askedBy: (who: string) => `Requested by ${who}`,
  openBrowser: 'Open browser',
  review: 'Review',
  ofServer: (server: string) =>
    `Of the MCP server “${server}”: models are not offered it until it is approved.`,
  record: 'Record as a payment',
  recorded: 'A transaction was recorded.',
  match: 'Match…',
  matchTitle: 'Which payment is this?',
  matched: 'It was matched.',
  transaction: 'Transaction',
  noTransactions: 'There are no incoming transactions yet. Record the message as one.',
  refresh: 'Try again',
  refreshed: (name: string) => `“${name}” is being read again.`,
  openSource: 'Open knowledge',
}

export const text = defineText(en, { de: () => import('./de.ts') })
