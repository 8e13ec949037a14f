import type { Kysely } from 'kysely'
import { type StoredSettings, waitSecondsOf } from '#features/agents/settings.service.ts'
import type { AppError } from '#platform/errors.ts'
import type { Ids } from '#platform/ids.ts'
import type { Outbox, Transact } from '#platform/jobs/jobs.ts'
import { createFairSlots } from '#platform/workers/fair-slots.ts'
import type { AgentDatabases } from '#storage/agent-databases.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { ChatEvents } from '../chat.events.ts'
import type { Attachment } from '../chat.schema.ts'
import type { ConversationLock } from '../conversations/conversation-lock.ts'
import type { Asker } from '../reach.ts'
import type { Lock, TurnMark } from '../rows/conversation-lock.repository.ts'
import type { StoredMessage } from '../rows/messages.repository.ts'
import type { WaitingTurns } from '../waiting/waiting.service.ts'
import type { TurnPlanner } from './planning/plan.ts'
import type { PlanOptions } from './planning/turn-plan.ts'
import type { Question } from './question.ts'

/** Max questions that are stored at a time: of many simultaneous ones, few are accepted early instead of all late. */
const maxAccepting = 4

/** A question that was checked and can be accepted. Disposing of an unaccepted one leaves nothing behind. */
export interface Draft extends AsyncDisposable {
  /** Locks the conversation that the question continues, if there is one: after this, nothing else can prevent its acceptance. */
  hold(): Promise<void>
  /** Stores the question and locks its conversation. */
  accept(how?: Accepting): Promise<Question>
  /** The agent's settings when the question was checked. */
  settings: StoredSettings
  /** Ends the conversation's wait, if there is one and the question requests this. */
  endWait(transaction: Kysely<AgentTables>, outbox: Outbox<ChatEvents>, conversationId: string): Promise<void>
  /** Finds the conversation it would join. Throws like `accept`, but ignores locks. */
  find(transaction: Kysely<AgentTables>): Promise<Place>
}

interface Accepting {
  /** Defaults to a new id. */
  turnId?: string
  /** A lock of the conversation that the new one replaces. */
  held?: Lock | undefined
  /** Further changes in the same transaction. */
  also?(transaction: Kysely<AgentTables>, lock: Lock): Promise<void>
}

/** The conversation that a question continues, or a new one without an id. */
interface Place {
  conversationId: string | undefined
  /** The question, if it is stored already. */
  question?: StoredMessage
  /** The attachments of a new question. */
  attachments?: readonly Attachment[]
}

interface Stored
  extends Pick<Question, 'lock' | 'userMessage' | 'isNew' | 'title' | 'evictedConversationId'> {
  isFirst?: boolean
}

interface Wanted<Found extends Place> {
  agentId: string
  asker: Asker
  options: Omit<PlanOptions, 'isOutsider'> & { cancel_waiting?: boolean }
  /** The reason why the question's turn must fail. */
  refusal?: AppError | undefined
  /** Throws if the conversation can't take the question. */
  find(transaction: Kysely<AgentTables>): Promise<Found>
  /** Stores a new message, conversation or turn. The lock that it returns replaces `held`. */
  store(
    transaction: Kysely<AgentTables>,
    outbox: Outbox<ChatEvents>,
    found: Found,
    { held, settings, turn }: { held: Lock | undefined; settings: StoredSettings; turn: TurnMark },
  ): Promise<Stored>
}

interface Held<Found> {
  found: Found
  locked: Lock | undefined
}

interface Dependencies {
  waiting: Pick<WaitingTurns, 'endIn'>
  agentDatabases: AgentDatabases
  planner: TurnPlanner
  lock: ConversationLock
  transact: Transact<ChatEvents>
  ids: Ids
}

export function createDrafts({ waiting, agentDatabases, planner, lock, transact, ids }: Dependencies) {
  const slots = createFairSlots(maxAccepting, maxAccepting)
  return async <Found extends Place>(wanted: Wanted<Found>): Promise<Draft> => {
    const { agentId, asker, options, refusal, find, store } = wanted
    await using checking = new AsyncDisposableStack()
    const agent = checking.adopt(await agentDatabases.acquire(agentId), handle => handle.release())
    const { isOutsider } = asker
    const planned = { ...options, isOutsider }
    const plan = await (refusal ? planner.refuse(agentId, refusal, planned) : planner.plan(agentId, planned))
    const undo = checking.move()
    const endWait: Draft['endWait'] = async (transaction, outbox, conversationId) => {
      if (options.cancel_waiting) await waiting.endIn({ transaction, outbox }, conversationId)
    }
    let held: Held<Found> | undefined
    return {
      async hold() {
        held = await transact(agent, async (transaction, outbox) => {
          const found = await find(transaction)
          const { conversationId: id } = found
          if (id !== undefined) await endWait(transaction, outbox, id)
          return { found, locked: id === undefined ? undefined : await lock.acquire(transaction, id) }
        })
        const { locked } = held
        if (locked !== undefined) undo.defer(async () => void (await lock.release(agent.db, locked)))
      },

      settings: plan.settings,
      find,
      endWait,

      async accept({ turnId = ids.record(), held: replaced, also } = {}) {
        const release = await slots.take(agentId)
        const { isFirst = false, ...accepted } = await transact(agent, async (transaction, outbox) => {
          const found = held?.found ?? (await find(transaction))
          if (found.conversationId !== undefined) await endWait(transaction, outbox, found.conversationId)
          const stored = await store(transaction, outbox, found, {
            held: replaced ?? held?.locked,
            settings: plan.settings,
            turn: { id: turnId, by: asker.author },
          })
          await also?.(transaction, stored.lock)
          return stored
        }).finally(release)
        // From here on, the question owns the agent and the lock.
        undo.move()
        const context = { agent, userMessage: accepted.userMessage, isFirst }
        const { model } = plan
        const turn: Question['turn'] = (...how) => plan.run(context, ...how)
        const approvalTimeout = waitSecondsOf(plan.settings)
        return { agent, asker, model, turnId, refusal, approvalTimeout, ...accepted, turn }
      },

      [Symbol.asyncDispose]: () => undo.disposeAsync(),
    }
  }
}
