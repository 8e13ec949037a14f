/** Every REST call of the specification: the rows of its endpoint tables and the webhook registration. */
import { agentRows } from './rest/agents.ts'
import { browserRows } from './rest/browser.ts'
import { calendarRows } from './rest/calendar.ts'
import { chatRows } from './rest/chat.ts'
import { contactRows } from './rest/contacts.ts'
import { mcpRows } from './rest/mcp.ts'
import { paymentRows } from './rest/payments.ts'
import { scheduleRows } from './rest/schedules.ts'
import { sourceRows } from './rest/sources.ts'
import { sqlRows } from './rest/sql.ts'
import { toolRows } from './rest/tools.ts'
import { webhookRows } from './rest/webhooks.ts'
import { workflowRows } from './rest/workflows.ts'
import type { RestArea, RestRow } from './rest-row.ts'

const restAreas = [
  agentRows,
  chatRows,
  toolRows,
  mcpRows,
  sourceRows,
  contactRows,
  workflowRows,
  scheduleRows,
  calendarRows,
  sqlRows,
  browserRows,
  paymentRows,
  webhookRows,
] as const

export type RowId = (typeof restAreas)[number]['rows'][number]['id']

export type SpecifiedRow = RestRow & Pick<RestArea, 'area' | 'errorShape'>

export const restRows: readonly SpecifiedRow[] = restAreas.flatMap(({ area, errorShape, rows }: RestArea) =>
  rows.map(row => ({ ...row, area, errorShape })),
)
