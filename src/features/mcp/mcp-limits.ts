import type { ClientLimits } from './client/connect.ts'
import type { ConnectionLimits } from './client/connections.ts'

export type McpLimits = ClientLimits & ConnectionLimits

const mebibyte = 1024 * 1024

/**
 * Limits on the cost of a server. An answer is parsed at once: the worst one within these limits takes about
 * a tenth of a second.
 */
export const mcpLimits: McpLimits = {
  connectMs: 10_000,
  listMs: 20_000,
  callMs: 60_000,
  maxCallMs: 300_000,
  idleMs: 60_000,
  maxPages: 50,
  maxAnswerBytes: 2 * mebibyte,
  maxEventBytes: 2 * mebibyte,
  maxStreamBytes: 16 * mebibyte,
  maxValues: 100_000,
  most: 200,
  maxOfAgent: 20,
}
