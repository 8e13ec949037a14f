import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Actor } from '#platform/actor.ts'
import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import type { ChangeDetails, CurrentChange, Joined } from '#platform/current-change.ts'
import type { OutboxDatabase } from '#platform/jobs/jobs.ts'
import type { LateJobs } from '#platform/jobs/late-jobs.ts'
import type { Log } from '#platform/logging/log.ts'
import type { PlatformTables } from '#storage/tables.ts'
import type { AuditRow } from './audit.repository.ts'
import { insertAuditRow } from './audit.repository.ts'
import type { AuditEntry } from './audit.schema.ts'

export interface RecordedCall {
  agentId: string | null
  /** The agent's database, where it is open. */
  database: object | undefined
  actor: Actor
  address: string | null
  operation: string
  /** What the call names; undefined if it makes a new one. */
  object: string | null | undefined
  /** Whether only a call leaves a row that has changed data, or says what it has changed. */
  onlyDescribed: boolean
}

export interface RecordingNeeds {
  platform: Kysely<PlatformTables>
  lateRows: LateJobs
  clock: Clock
  log: Log
}

/** A call whose row is stored by its first transaction that writes, else at its end; never twice. */
export class RecordedChange implements CurrentChange {
  readonly #needs: RecordingNeeds
  readonly #call: RecordedCall
  #state: 'open' | 'joining' | 'stored' = 'open'
  #made: string | undefined
  #details: ChangeDetails | undefined

  constructor(needs: RecordingNeeds, call: RecordedCall) {
    this.#needs = needs
    this.#call = call
  }

  made(id: string): void {
    this.#made ??= id
  }

  describe(details: ChangeDetails): void {
    this.#details = { ...this.#details, ...details }
  }

  join(database: object): Joined | undefined {
    const { platform, lateRows, log } = this.#needs
    const { agentId, database: own } = this.#call
    const isPlatform = database === platform
    if (this.#state !== 'open' || !(isPlatform || (database === own && agentId !== null))) return undefined
    this.#state = 'joining'
    const late = isPlatform ? undefined : lateRows.job(agentId ?? '', () => this.#row('done'))
    return {
      write: async transaction =>
        late === undefined
          ? await insertAuditRow(transaction as Kysely<PlatformTables>, this.#row('done'))
          : await late.write(transaction as OutboxDatabase),
      ended: async isCommitted => {
        this.#state = isCommitted ? 'stored' : 'open'
        await late
          ?.ended(isCommitted)
          // A failure costs no more than a delay: the rows are moved when the agent is opened next.
          .catch(error => log.warn({ err: error, agentId }, 'waking up for rows of the audit log failed'))
      },
    }
  }

  /** Stores the row of a call that has changed something without a transaction, and ends the recording. */
  async end(outcome: AuditEntry['outcome']): Promise<void> {
    const isDue = this.#state === 'open' && (!this.#call.onlyDescribed || this.#details !== undefined)
    this.#state = 'stored'
    if (isDue) await insertAuditRow(this.#needs.platform, this.#row(outcome))
  }

  #row(outcome: AuditEntry['outcome']): AuditRow {
    const { agentId, actor, address, operation, object = this.#made } = this.#call
    // An agent's first row is that of its creation; the one of its deletion outlives it.
    const [isCreation, isDeletion] = [operation === 'createAgent', operation === 'deleteAgent']
    return {
      id: randomUUID(),
      created_at: timestamp(this.#needs.clock),
      agent_id: isCreation ? (object ?? null) : isDeletion ? null : agentId,
      actor_kind: actor.kind,
      actor_id: actor.id,
      actor_name: actor.name,
      actor_person: actor.person ?? null,
      address,
      operation,
      object: (isDeletion ? agentId : object) ?? null,
      outcome,
      changes: this.#details === undefined ? null : JSON.stringify(this.#details, shortened),
    }
  }
}

const maxText = 200

function shortened(_key: string, value: unknown): unknown {
  return typeof value === 'string' && value.length > maxText ? `${value.slice(0, maxText)}…` : value
}
