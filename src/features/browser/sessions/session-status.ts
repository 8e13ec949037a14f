/*
 * (none) --create--> active --takeover--> takeover --handed back, or its time is over--> active
 * active, paused, takeover --delete, idle, end of the service--> closed
 * active, paused, takeover --the browser crashed, the process died--> error
 */
export const sessionStatuses = ['active', 'paused', 'takeover', 'closed', 'error'] as const
export type SessionStatus = (typeof sessionStatuses)[number]

export const openStatuses: readonly SessionStatus[] = ['active', 'paused', 'takeover']

/** Returns true if a browser runs the session. */
export function isOpen(status: SessionStatus): boolean {
  return openStatuses.includes(status)
}
