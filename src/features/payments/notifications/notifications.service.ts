import type { Kysely } from 'kysely'
import { timestamp } from '#platform/clock.ts'
import { conflict, notFound } from '#platform/errors.ts'
import type { ChangeContext } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentTables } from '#storage/tables.ts'
import { findUnmatched } from '../ledger/ledger.repository.ts'
import type { Ledger, PaymentOutbox } from '../ledger/ledger.service.ts'
import type { PaymentEvents } from '../payments.events.ts'
import {
  findNotification,
  insertNotification,
  listNotifications,
  type NotificationRow,
  setMatch,
  toNotification,
} from './notifications.repository.ts'
import type { NewNotification, Notification, NotificationListQuery } from './notifications.schema.ts'
import { parseNotification } from './parse-notification.ts'

/** Max time between a payment and its notification if only the amount connects them (ms). */
const nearMs = 48 * 3_600_000

interface Dependencies extends ChangeContext<PaymentEvents> {
  ledger: Ledger
}

/** Reads messages of other services about payments, and compares them with the ledger. */
export function createNotificationsService({ transact, ledger, clock, ids }: Dependencies) {
  /** Returns the only transaction that a notification can report: by reference, else by amount and time. */
  async function fittingTransaction(
    database: Kysely<AgentTables>,
    row: NotificationRow,
  ): Promise<string | null> {
    const { amount, currency, reference, created_at } = row
    const named = reference === null ? [] : await findUnmatched(database, { reference })
    if (named.length > 0) return named.length === 1 ? (named[0]?.id ?? null) : null
    if (amount === null || currency === null) return null
    const [from = '', to = ''] = [-nearMs, nearMs].map(ms =>
      new Date(Date.parse(created_at) + ms).toISOString(),
    )
    const [found, other] = await findUnmatched(database, { amount, currency, from, to })
    return other === undefined ? (found?.id ?? null) : null
  }

  /** Changes the match of a notification in the expected status. */
  function change(
    agent: AgentHandle,
    id: string,
    status: Notification['status'],
    matchFor: (
      transaction: Kysely<AgentTables>,
      row: NotificationRow,
      outbox: PaymentOutbox,
    ) => Promise<string | null>,
  ): Promise<Notification> {
    return transact(agent, async (transaction, outbox) => {
      const row = await require(transaction, id)
      if (row.status !== status) throw conflict(`The notification is ${row.status} already.`)
      await setMatch(transaction, id, await matchFor(transaction, row, outbox))
      return toNotification(await require(transaction, id))
    })
  }

  return {
    list: ({ db }: AgentHandle, query: NotificationListQuery) => listNotifications(db, query),

    add(agent: AgentHandle, { gateway, message }: NewNotification): Promise<Notification> {
      const parsed = parseNotification(message)
      const row = { id: ids.record(), gateway, message, ...parsed, created_at: timestamp(clock) }
      return transact(agent, async (transaction, outbox) => {
        const unmatched = { ...row, status: 'unmatched', transaction_id: null }
        const transaction_id = await fittingTransaction(transaction, unmatched)
        const status = transaction_id === null ? 'unmatched' : 'matched'
        await insertNotification(transaction, { ...row, status, transaction_id })
        const { agentId } = agent
        if (transaction_id === null)
          await outbox.emit('payment.unmatched', { agent_id: agentId, notification_id: row.id })
        return toNotification({ ...row, status, transaction_id })
      })
    },

    match: (agent: AgentHandle, id: string, transactionId: string) =>
      change(agent, id, 'unmatched', async transaction => (await ledger.get(transaction, transactionId)).id),

    unmatch: (agent: AgentHandle, id: string) => change(agent, id, 'matched', async () => null),

    /** Records a notification as a payment without other reports. */
    record: (agent: AgentHandle, id: string) =>
      change(agent, id, 'unmatched', async (transaction, { amount, currency, from, reference }, outbox) => {
        if (amount === null || currency === null)
          throw conflict('The message does not say for certain which amount of which currency came in.')
        const paid = { type: 'inbound', source: 'notification', state: 'settled', amount, currency } as const
        const report = { ...paid, keys: [`notification:${id}`], from, reference }
        return (await ledger.record(transaction, outbox, agent.agentId, report)).id
      }),
  }
}

export type NotificationsService = ReturnType<typeof createNotificationsService>

async function require(database: Kysely<AgentTables>, id: string): Promise<NotificationRow> {
  const row = await findNotification(database, id)
  if (row === undefined) throw notFound('Notification')
  return row
}
