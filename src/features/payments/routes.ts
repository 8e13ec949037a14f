import { Type } from 'typebox'

/** What the routes of all parts have in common. */
export const agentPath = Type.Object({ id: Type.String() })
export const reading = { area: 'payments', access: 'viewer', limit: 'general' } as const
export const changing = { ...reading, access: 'admin' } as const
export const tags = ['Payments']
