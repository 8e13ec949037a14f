import type { Kysely } from 'kysely'
import { timestamp } from '#platform/clock.ts'
import { conflict, notFound } from '#platform/errors.ts'
import type { ChangeContext, Outbox } from '#platform/jobs/jobs.ts'
import type { Log } from '#platform/logging/log.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentTables } from '#storage/tables.ts'
import { add, multiply } from '../money.ts'
import type { PaymentEvents } from '../payments.events.ts'
import {
  addKeys,
  countAlike,
  findByKeys,
  findEntry,
  findTransaction,
  insertTransaction,
  keysOf,
  listTransactions,
  updateTransaction,
} from './ledger.repository.ts'
import type {
  Resolution,
  SummaryQuery,
  Transaction,
  TransactionListQuery,
  TransactionSum,
} from './ledger.schema.ts'
import {
  isIncome,
  type LedgerEntry,
  mergeTransaction,
  newTransaction,
  type PaymentChange,
  type PaymentReport,
  reportOf,
} from './merge-transaction.ts'
import { exceeds, mergeReversals } from './reversals.ts'

type Database = Kysely<AgentTables>
export type PaymentOutbox = Outbox<PaymentEvents>

interface Dependencies extends ChangeContext<PaymentEvents> {
  /** Called before a person's resolution of a transaction is stored; retries can repeat it. */
  onResolved(agentId: string, transactionId: string, outcome: Resolution['outcome']): Promise<void>
  log: Log
}

/** Keeps one transaction for each payment, for any number and order of messages about it. */
export function createLedger({ transact, onResolved, clock, ids, log }: Dependencies) {
  /** Records a message's report, in the caller's transaction. */
  async function record(
    transaction: Database,
    outbox: PaymentOutbox,
    agentId: string,
    report: PaymentReport,
  ) {
    const known = await recognise(transaction, report)
    const now = timestamp(clock)
    const next =
      known === undefined ? newTransaction(ids.record(), report, now) : mergeTransaction(known, report, now)
    await (known === undefined ? insertTransaction : updateTransaction)(transaction, next)
    await addKeys(transaction, next.id, report.keys)
    if (isIncome(next) && (known === undefined || !isIncome(known)))
      await outbox.emit('payment.received', { agent_id: agentId, transaction_id: next.id })
    return next
  }

  /** Records a message's report about a known payment; undefined if it is unknown, or was paid less. */
  async function change(
    transaction: Database,
    outbox: PaymentOutbox,
    agentId: string,
    change: PaymentChange,
  ) {
    const known = await recognise(transaction, change)
    if (known === undefined) return undefined
    if (exceeds(mergeReversals(known.reversals, change.reversals ?? {}), known)) {
      log.warn(
        { agentId, transactionId: known.id, keys: change.keys },
        'refused a refund or dispute above its payment',
      )
      return undefined
    }
    return await record(transaction, outbox, agentId, reportOf(known, change))
  }

  return {
    record,
    change,
    get,

    list: ({ db }: AgentHandle, query: TransactionListQuery) => listTransactions(db, query),

    async summary({ db }: AgentHandle, query: SummaryQuery): Promise<TransactionSum[]> {
      const sums = new Map<string, TransactionSum>()
      for (const { count, amount, refunded, ...alike } of await countAlike(db, query)) {
        const { currency } = alike
        const key = JSON.stringify(alike)
        const sum = sums.get(key) ?? ({ ...alike, count: 0, amount: '0', refunded: '0' } as TransactionSum)
        sums.set(key, {
          ...sum,
          count: sum.count + Number(count),
          amount: add(sum.amount, multiply(amount, BigInt(count), currency), currency),
          refunded: add(sum.refunded, multiply(refunded, BigInt(count), currency), currency),
        })
      }
      return [...sums.values()]
    },

    /** Records the outcome of a payment that a person has found out. */
    async resolve(agent: AgentHandle, id: string, { outcome, note }: Resolution): Promise<Transaction> {
      requirePending(await get(agent.db, id))
      await onResolved(agent.agentId, id, outcome)
      return await transact(agent, async (transaction, outbox) => {
        const pending = requirePending(await get(transaction, id))
        const { source, type, amount, currency } = pending
        const report = { transactionId: id, source, type, amount, currency, state: outcome, note }
        return await record(transaction, outbox, agent.agentId, {
          ...report,
          keys: await keysOf(transaction, id),
        })
      })
    },
  }
}

export type Ledger = ReturnType<typeof createLedger>

async function get(database: Database, id: string): Promise<Transaction> {
  const transaction = await findTransaction(database, id)
  if (transaction === undefined) throw notFound('Transaction')
  return transaction
}

/** Finds the payment by its keys, or else by the named transaction, unless that is another payment's. */
async function recognise(
  database: Database,
  { keys, transactionId }: Pick<PaymentReport, 'keys' | 'transactionId'>,
): Promise<LedgerEntry | undefined> {
  const known = keys.length === 0 ? undefined : await findByKeys(database, keys)
  if (known !== undefined || transactionId === undefined) return known
  const named = await findEntry(database, transactionId)
  return named && (keys.length === 0 || (await keysOf(database, named.id)).length === 0) ? named : undefined
}

function requirePending(transaction: Transaction): Transaction {
  if (transaction.state === 'pending') return transaction
  throw conflict(`Only a pending transaction can be resolved; this one is ${transaction.state}.`)
}
