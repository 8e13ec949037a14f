import type { Kysely } from 'kysely'
import { v7 as orderedUuid } from 'uuid'
import type { Actor } from '#platform/actor.ts'
import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import type { CurrentChange } from '#platform/current-change.ts'
import type { OutboxDatabase } from '#platform/jobs/jobs.ts'
import type { PlatformTables } from '#storage/tables.ts'
import type { AuditRow, Outcome } from './audit.schema.ts'
import { insertAuditRow } from './audit.service.ts'
import type { RowsUnderWay } from './rows-under-way.ts'

export interface Recording {
  platform: Kysely<PlatformTables>
  rows: RowsUnderWay
  clock: Clock
}

/** A call, as its row names it; `object` is undefined if it makes one. */
export interface RecordedCall {
  actor: Actor
  call: Pick<AuditRow, 'agent_id' | 'address' | 'operation'> & { object: string | null | undefined }
  /** That of the agent, where it is open. */
  database: object | undefined
  /** Whether only a call that changes data, or says what it has changed, leaves a row. */
  onlyDescribed: boolean
}

export interface RecordedChange extends CurrentChange {
  /** Stores the row, unless a transaction has. */
  end(outcome: Outcome): Promise<void>
}

const shortened = (_: string, value: unknown) =>
  typeof value === 'string' && value.length > 200 ? `${value.slice(0, 200)}…` : value

/** A call whose row is stored by its first transaction that writes, else at its end. */
export function recordChange({ platform, rows, clock }: Recording, recorded: RecordedCall): RecordedChange {
  const { call, database: own, onlyDescribed } = recorded
  let state: 'open' | 'joining' | 'stored' = 'open'
  let made: string | undefined
  let details: object | undefined

  function row(outcome: Outcome): AuditRow {
    const { agent_id, address, operation, object = made ?? null } = call
    const { actor } = recorded
    const ends = operation === 'deleteAgent'
    return {
      ...{ id: orderedUuid(), created_at: timestamp(clock), address, operation, outcome },
      // The first row of an agent is its creation; its deletion outlives it.
      ...{
        agent_id: operation === 'createAgent' ? object : ends ? null : agent_id,
        object: ends ? agent_id : object,
      },
      ...{
        actor_kind: actor.kind,
        actor_id: actor.id,
        actor_name: actor.name,
        actor_person: actor.person ?? null,
      },
      changes: details === undefined ? null : JSON.stringify(details, shortened),
    }
  }

  return {
    made(id) {
      made ??= id
    },
    describe(given) {
      details = { ...details, ...given }
    },
    join(database) {
      const isPlatform = database === platform
      if (state !== 'open' || !(isPlatform || database === own)) return undefined
      state = 'joining'
      return {
        async write(transaction) {
          if (isPlatform) await insertAuditRow(transaction as typeof platform, { ...row('done') })
          else await rows.leave(transaction as OutboxDatabase, row('done'))
        },
        async ended(isStored) {
          state = isStored ? 'stored' : 'open'
          if (isStored && !isPlatform) await rows.wake(call.agent_id ?? '')
        },
      }
    },
    async end(outcome) {
      const isDue = state === 'open' && (!onlyDescribed || details !== undefined)
      state = 'stored'
      if (isDue) await insertAuditRow(platform, { ...row(outcome) })
    },
  }
}
