/** Requests by the specification of Standard Webhooks. */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { AgentEvent } from '#platform/jobs/events.ts'

const maxBodyBytes = 20_000
const maxTextLength = 1_000
const secretPrefix = 'whsec_'

export function newSecret(): string {
  return secretPrefix + randomBytes(32).toString('base64')
}

/** Returns the same id each time the event is passed to the webhook. */
export function messageId(eventId: string, webhookId: string): string {
  return `msg_${createHash('sha256').update(`${eventId}.${webhookId}`).digest('base64url').slice(0, 32)}`
}

/** Returns a body with long texts cut; if it is still too long, only ids are kept. */
export function messageBody({ name, time, payload }: Omit<AgentEvent, 'id' | 'ref'>): string {
  const facts = Object.entries(payload ?? {})
  const bodyOf = (data: typeof facts) =>
    JSON.stringify(
      { type: name, timestamp: new Date(time).toISOString(), data: Object.fromEntries(data) },
      (_, value) => (typeof value === 'string' ? value.slice(0, maxTextLength).toWellFormed() : value),
    )
  const whole = bodyOf(facts)
  const isId = ([key, value]: (typeof facts)[number]) => key.endsWith('_id') && typeof value === 'string'
  return Buffer.byteLength(whole) < maxBodyBytes ? whole : bodyOf(facts.filter(isId))
}

/** @param at milliseconds since the epoch. @param secrets each makes its own signature. */
export function signedHeaders(id: string, at: number, body: string, secrets: readonly string[]) {
  const seconds = String(Math.floor(at / 1000))
  const signatures = secrets.map(secret => {
    const key = Buffer.from(secret.slice(secretPrefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures.join(' ') }
}
