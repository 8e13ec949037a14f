import type { Kysely } from 'kysely'
import { v7 as orderedUuid } from 'uuid'
import type { Actor } from '#platform/actor.ts'
import { type Clock, timestamp } from '#platform/clock.ts'
import type { CurrentChange } from '#platform/current-change.ts'
import type { AgentDatabase, PlatformTables } from '#storage/tables.ts'
import type { AuditRow, Outcome } from './audit.schema.ts'
import { insertAuditRows } from './audit.service.ts'
import type { PendingRows } from './pending-rows.ts'

export interface Recording {
  platform: Kysely<PlatformTables>
  rows: PendingRows
  clock: Clock
}

/** A call, with the fields of its row; `object` is undefined if the call creates one. */
export interface RecordedCall {
  actor: Actor
  call: Pick<AuditRow, 'agent_id' | 'address' | 'operation'> & { object: string | null | undefined }
  /** The agent's database, if it is open. */
  database: object | undefined
  /** True if only a call that changes or describes data leaves a row. */
  onlyDescribed: boolean
}

export interface RecordedChange extends CurrentChange {
  /** Stores the rows that no transaction has stored; undefined if there are none. */
  end(outcome: Outcome): Promise<void> | undefined
}

const shortened = (_: string, value: unknown) =>
  typeof value === 'string' && value.length > 200 ? `${value.slice(0, 200)}…` : value

/**
 * A call whose row is stored by its first writing transaction, else at its end. Rows of further agents are
 * stored by the transactions that name these agents.
 */
export function recordChange({ platform, rows, clock }: Recording, recorded: RecordedCall): RecordedChange {
  const { call, database: own, onlyDescribed } = recorded
  let isJoining = false
  let isStored = false
  let made: string | undefined
  let details: object | undefined
  /** Details by agent, until their rows are stored. */
  const ofAgents = new Map<string, object>()

  function unstored(outcome: Outcome): AuditRow[] {
    if (ofAgents.size > 0)
      return Array.from(ofAgents, ([agent_id, own]) => ({
        ...row(outcome, { ...details, ...own }),
        agent_id,
      }))
    return isStored ? [] : [row(outcome, details)]
  }

  function row(outcome: Outcome, changes: object | undefined): AuditRow {
    const { agent_id, address, operation, object = made ?? null } = call
    const { actor } = recorded
    const ends = operation === 'deleteAgent'
    return {
      ...{ id: orderedUuid(), created_at: timestamp(clock), address, operation, outcome },
      // The first row of an agent is its creation; the row of its deletion is kept without the agent.
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
      changes: changes === undefined ? null : JSON.stringify(changes, shortened),
    }
  }

  return {
    made(id) {
      made ??= id
    },
    describe(givenDetails, agentId) {
      if (agentId === undefined) details = { ...details, ...givenDetails }
      else ofAgents.set(agentId, { ...ofAgents.get(agentId), ...givenDetails })
    },
    join(database) {
      const isPlatform = database === platform
      if (isJoining || !(isPlatform || (database === own && !isStored))) return undefined
      isJoining = true
      const madeBefore = made
      let jobTime: number | undefined
      return {
        began() {
          made = madeBefore
        },
        async write(transaction) {
          const due = unstored('done')
          if (isPlatform) return await insertAuditRows(transaction as typeof platform, due)
          for (const each of due)
            jobTime = await rows.leave(transaction as AgentDatabase, call.agent_id ?? '', each)
        },
        async ended(isKept) {
          isJoining = false
          if (!isKept) return
          isStored = true
          ofAgents.clear()
          if (!isPlatform) await rows.wake(call.agent_id ?? '', jobTime)
        },
      }
    },
    end(outcome) {
      const isDue = ofAgents.size > 0 || !onlyDescribed || details !== undefined
      const due = isDue ? unstored(outcome) : []
      isStored = true
      ofAgents.clear()
      return due.length === 0 ? undefined : insertAuditRows(platform, due)
    },
  }
}
