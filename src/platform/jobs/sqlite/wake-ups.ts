import { type Kysely, sql } from 'kysely'
import type { Clock } from '../../clock.ts'
import { prepareQuery, type ValueOf } from '../../prepared-query.ts'
import { type ByLane, byLane, type Lane } from '../lanes.ts'
import type { WakeUpTables } from '../tables.ts'
import type { WakeUps } from '../wake-ups.ts'

interface Dependencies {
  /** The platform database, which only this process uses. */
  db: Kysely<WakeUpTables>
  clock: Clock
}

/** Time ahead at which an announced wake-up is due (ms): longer than nearly all transactions take. */
const announcedAhead = 5_000
/** Max wait of a timer (ms): the wall clock can be set, and the machine can sleep. */
const maxWait = 60_000

export function createWakeUps(dependencies: Dependencies): ByLane<WakeUps> {
  return byLane(lane => new EmbeddedWakeUps(lane, dependencies))
}

type Database = Kysely<WakeUpTables>

const selectEarliest = prepareQuery((db: Database, value: ValueOf<'lane'>) =>
  db.selectFrom('wake_ups').selectAll().where('lane', '=', value<Lane>('lane')).orderBy('due_at').limit(1),
)

const putWakeUp = prepareQuery((db: Database, value: ValueOf<'agentId' | 'lane' | 'dueAt' | 'always'>) => {
  const row = { agent_id: value('agentId'), lane: value<Lane>('lane'), due_at: value('dueAt') }
  return db
    .insertInto('wake_ups')
    .values(row)
    .onConflict(conflict => {
      const known = conflict.columns(['agent_id', 'lane']).doUpdateSet({ due_at: value('dueAt') })
      return known.where(sql<boolean>`(wake_ups.due_at > ${value('dueAt')} or ${value('always')} = 1)`)
    })
})

const deleteWakeUp = prepareQuery((db: Database, value: ValueOf<'agentId' | 'lane'>) =>
  db.deleteFrom('wake_ups').where('agent_id', '=', value('agentId')).where('lane', '=', value<Lane>('lane')),
)

/**
 * Wake-ups of one lane as rows of the platform database, and one timer for the earliest. A row holds only the
 * earliest of all requests, so this process remembers the rest: a look must neither delete the row of an
 * agent with a running transaction, nor overwrite a wake-up that came meanwhile.
 */
class EmbeddedWakeUps implements WakeUps {
  readonly #lane: Lane
  readonly #dependencies: Dependencies
  /** Number of announced running transactions, by agent. */
  readonly #underWay = new Map<string, number>()
  /** Agents pulled after they were last taken. */
  readonly #pulled = new Set<string>()
  #lastWrite: Promise<unknown> = Promise.resolve()
  #onDue: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined
  #timerDueAt = Number.POSITIVE_INFINITY

  constructor(lane: Lane, dependencies: Dependencies) {
    this.#lane = lane
    this.#dependencies = dependencies
  }

  async announce(agentId: string) {
    this.#count(agentId, 1)
    const end = () => this.#count(agentId, -1)
    try {
      await this.#inOrder(() => this.#write(agentId, this.#now() + announcedAhead))
    } catch (error) {
      end()
      throw error
    }
    return {
      settle: async (dueAt: number | undefined) => {
        end()
        if (dueAt !== undefined) await this.pull(agentId, dueAt)
      },
    }
  }

  async pull(agentId: string, dueAt: number): Promise<void> {
    this.#pulled.add(agentId)
    await this.#inOrder(() => this.#write(agentId, dueAt))
    this.#expect(dueAt)
  }

  async take(): Promise<string | undefined> {
    const [earliest] = await this.#inOrder(() => selectEarliest(this.#dependencies.db, { lane: this.#lane }))
    if (earliest === undefined) return undefined
    const dueAt = Date.parse(earliest.due_at)
    if (dueAt > this.#now()) {
      this.#expect(dueAt)
      return undefined
    }
    this.#pulled.delete(earliest.agent_id)
    return earliest.agent_id
  }

  async settle(agentId: string, dueAt: number | undefined): Promise<void> {
    await this.#inOrder(async () => {
      if (this.#pulled.has(agentId)) return
      const again = this.#underWay.has(agentId)
        ? Math.min(dueAt ?? Number.POSITIVE_INFINITY, this.#now() + announcedAhead)
        : dueAt
      if (again === undefined) await deleteWakeUp(this.#dependencies.db, { agentId, lane: this.#lane })
      else await this.#write(agentId, again, true)
    })
  }

  async start(onDue: () => void, lease: number): Promise<void> {
    const now = this.#now()
    await this.#dependencies.db
      .updateTable('wake_ups')
      .set({ due_at: toText(now) })
      .where('lane', '=', this.#lane)
      .where('due_at', '<=', toText(now + lease))
      .execute()
    this.#onDue = onDue
    onDue()
  }

  async stop(): Promise<void> {
    this.#onDue = undefined
    clearTimeout(this.#timer)
  }

  #now(): number {
    return this.#dependencies.clock.now()
  }

  #count(agentId: string, change: 1 | -1): void {
    const count = (this.#underWay.get(agentId) ?? 0) + change
    if (count === 0) this.#underWay.delete(agentId)
    else this.#underWay.set(agentId, count)
  }

  /** Runs statements in the order of the calls, which concurrent queries need not keep. */
  #inOrder<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#lastWrite.then(work)
    this.#lastWrite = result.catch(() => {})
    return result
  }

  /** @param always writes even if the agent is due earlier. */
  async #write(agentId: string, dueAt: number, always = false): Promise<void> {
    const values = { agentId, lane: this.#lane, dueAt: toText(dueAt), always: Number(always) }
    await putWakeUp(this.#dependencies.db, values)
  }

  /** Makes sure that `onDue` is called at `dueAt`, if not earlier. */
  #expect(dueAt: number): void {
    if (this.#onDue === undefined) return
    const wait = dueAt - this.#now()
    if (wait <= 0) {
      this.#onDue()
      return
    }
    if (dueAt >= this.#timerDueAt) return
    clearTimeout(this.#timer)
    this.#timerDueAt = dueAt
    this.#timer = setTimeout(() => this.#ring(), Math.min(wait, maxWait))
  }

  #ring(): void {
    this.#timerDueAt = Number.POSITIVE_INFINITY
    this.#onDue?.()
  }
}

function toText(time: number): string {
  return new Date(time).toISOString()
}
