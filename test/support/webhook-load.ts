/**
 * Chats, and contacts that are stored or undone, whose events go to a webhook at a receiver that fails at random; and what must
 * have come in the end.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import type { ChatMessage } from '#features/chat/chat.schema.ts'
import type { Delivery } from '#features/webhooks/webhooks.schema.ts'
import type { MessageList } from './chat-stage.ts'
import { scaled } from './endurance.ts'
import type { ServerProcess } from './server-process.ts'
import { startWebhookReceiver, verified } from './webhook-receiver.ts'
import type { NewWebhook } from './webhook-stage.ts'

export const webhookCrashes = scaled(100)
/** Milliseconds: a job that was interrupted waits for up to 30 s. */
const recoveryLimit = 120_000
/** What the service has to be started as. */
export const webhookProgram = 'serve-and-roll-back.ts'
const chat = '/api/agents/default/chat'
const contacts = '/api/agents/default/contacts'
const webhooks = '/api/agents/default/webhooks'

type Call = ServerProcess['call']

export async function webhookLoad(random: () => number) {
  let fails = true
  const receiver = await startWebhookReceiver(() => ({ status: fails && random() < 0.4 ? 500 : 200 }))
  let webhook: NewWebhook | undefined
  const conversations: string[] = []

  async function pending(call: Call): Promise<Delivery[]> {
    const { body } = await call<{ deliveries: Delivery[] }>(
      'GET',
      `${webhooks}/${webhook?.id}/deliveries?status=pending&limit=1000`,
    )
    return body.deliveries
  }

  async function storedEvents(call: Call): Promise<string[]> {
    const lists = conversations.map(id => call<MessageList>('GET', `${chat}?conversationId=${id}&limit=1000`))
    const messages = (await Promise.all(lists)).flatMap(({ body }) => body.messages)
    const known = (await call<{ contacts: { id: string }[] }>('GET', `${contacts}?limit=1000`)).body.contacts
    return [...messages.flatMap(eventOf), ...known.map(({ id }) => `contact.created ${id}`)].toSorted()
  }

  return {
    async begin(call: Call): Promise<void> {
      const body = { url: receiver.url, events: ['message.received', 'message.sent', 'contact.created'] }
      webhook = (await call<NewWebhook>('POST', webhooks, { body })).body
      for (const title of ['one', 'two', 'three', 'four'])
        conversations.push(
          (await call<{ id: string }>('POST', `${chat}/conversations`, { body: { title } })).body.id,
        )
    },

    /** Two messages at once for each conversation, of which one may find it locked, for as long as the server lives. */
    send(callOf: (n: number) => Call): { answered: Promise<void>; ended: Promise<unknown> } {
      const answered = Promise.withResolvers<void>()
      const endless = conversations
        .flatMap(id => [id, id])
        .map(async (conversationId, n) => {
          for (let isAlive = true; isAlive; )
            isAlive = await callOf(n)('POST', chat, { body: { content: `Hello ${n}`, conversationId } }).then(
              ({ status }) => {
                if (status === 200) answered.resolve()
                return true
              },
              () => false,
            )
        })
      return { answered: answered.promise, ended: Promise.all(endless) }
    },

    /** Sends all that waits for a later attempt, and compares what came with what is stored. */
    async expectAllDelivered(call: Call): Promise<void> {
      fails = false
      const begun = performance.now()
      let stored = await storedEvents(call)
      const bodies = new Map<string, Set<string>>()
      const eventsReceived = () => {
        for (const { id, body } of receiver.received) bodies.set(id, (bodies.get(id) ?? new Set()).add(body))
        return [...bodies.values()].flatMap(([body = '']) => nameOf(JSON.parse(body))).toSorted()
      }
      while ((await pending(call)).length > 0 || eventsReceived().length < stored.length) {
        expect(performance.now() - begun, 'deliveries are pending for too long').toBeLessThan(recoveryLimit)
        for (const { id, attempts } of await pending(call))
          if (attempts > 0) await call('POST', `${webhooks}/${webhook?.id}/deliveries/${id}/retry`)
        await delay(100)
        stored = await storedEvents(call)
      }
      expect(eventsReceived()).toEqual(stored)
      expect(stored.length).toBeGreaterThan(webhookCrashes)
      expect(stored.filter(event => event.startsWith('contact.')).length).toBeGreaterThan(0)
      expect([...bodies.values()].filter(({ size }) => size > 1)).toEqual([])
      expect(receiver.received.length).toBeGreaterThan(bodies.size)
      for (const { headers, body } of receiver.received)
        expect(headers['webhook-signature'], body).toMatch(/^v1,[\w+/]{43}=$/)
    },

    /** Checked while its time is still right. */
    verifyNew(from: number): number {
      for (const delivery of receiver.received.slice(from)) verified(delivery, webhook?.secret ?? '')
      return receiver.received.length
    },

    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  }
}

/** An answer that was cut off is stored without an event. */
function eventOf({ id, role, metadata }: ChatMessage): string[] {
  if (role === 'user') return [`message.received ${id}`]
  return metadata?.aborted ? [] : [`message.sent ${id}`]
}

function nameOf({ type, data }: { type: string; data: Record<string, string> }): string {
  return `${type} ${data.message_id ?? data.contact_id}`
}
