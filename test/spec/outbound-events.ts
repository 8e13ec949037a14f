import type { Area } from './rest-row.ts'

interface OutboundEvent {
  name: string
  /** The area whose work causes it. */
  area: Area
}

/** Events that a registered webhook can ask for. */
export const outboundEvents = [
  { name: 'workflow.complete', area: 'workflows' },
  { name: 'workflow.errored', area: 'workflows' },
  { name: 'workflow.terminated', area: 'workflows' },
  { name: 'workflow.waiting', area: 'workflows' },
  { name: 'approval.requested', area: 'workflows' },
  { name: 'message.received', area: 'chat' },
  { name: 'message.sent', area: 'chat' },
  { name: 'source.ready', area: 'sources' },
  { name: 'source.error', area: 'sources' },
  { name: 'schedule.fired', area: 'schedules' },
  { name: 'task.due', area: 'calendar' },
  { name: 'payment.received', area: 'payments' },
  { name: 'payment.unmatched', area: 'payments' },
  { name: 'browser.takeover_requested', area: 'browser' },
] as const satisfies readonly OutboundEvent[]
