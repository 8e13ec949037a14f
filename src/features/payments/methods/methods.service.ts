import { type Clock, timestamp } from '#platform/clock.ts'
import { conflict, notFound } from '#platform/errors.ts'
import type { ListParameters } from '#platform/http/lists/list-query.ts'
import type { Ids } from '#platform/ids.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentSecrets } from '#storage/encryption/agent-secrets.ts'
import { checkDetails, detailsForViewers, shownDetails } from './check-details.ts'
import {
  deleteMethod,
  findAlike,
  insertMethod,
  listMethods,
  type MethodRow,
  toMethod,
} from './methods.repository.ts'
import type { Details, Method, NewMethod } from './methods.schema.ts'

interface Dependencies {
  agentSecrets: AgentSecrets
  clock: Clock
  ids: Ids
}

/** Ways to pay an agent. Details are sealed as a whole; the masked details beside them may be shown. */
export function createMethodsService({ agentSecrets, clock, ids }: Dependencies) {
  /** Returns the ids of methods with equal masked details. Throws CONFLICT if one of them is the same. */
  async function requireNew({ agentId, db }: AgentHandle, row: MethodRow, sealed: Sealed): Promise<string> {
    const alike = await findAlike(db, row)
    for (const { secret_set } of alike) {
      const other = await agentSecrets.read(agentId, secret_set)
      if (other.details === sealed.details)
        throw conflict('There is a payment method with this type and these details.')
    }
    return idsOf(alike)
  }

  return {
    async list({ db }: AgentHandle, parameters: ListParameters, isAdmin: boolean) {
      const { rows, meta } = await listMethods(db, parameters)
      const shown = rows.map(row => ({ ...row, details: detailsForViewers(row.details) }))
      return { rows: isAdmin ? rows : shown, meta }
    },

    async create(agent: AgentHandle, { type, label, details: givenDetails }: NewMethod): Promise<Method> {
      const details = checkDetails(type, givenDetails)
      const shown = textOf(shownDetails(details))
      const row = {
        id: ids.record(),
        type,
        label,
        details: shown,
        secret_set: null,
        created_at: timestamp(clock),
      }
      const sealed = { details: textOf(details) }
      const secret_set = await agentSecrets.write(agent.agentId, sealed)
      try {
        // Sealed details can't be read in the transaction that must check for methods added meanwhile.
        for (let isStored = false; !isStored; ) {
          const before = await requireNew(agent, row, sealed)
          isStored = await inTransaction(agent.db, async transaction => {
            if (idsOf(await findAlike(transaction, row)) !== before) return false
            await insertMethod(transaction, { ...row, secret_set })
            return true
          })
        }
      } catch (error) {
        await agentSecrets.remove(agent.agentId, [secret_set])
        throw error
      }
      return toMethod(row)
    },

    async remove({ agentId, db }: AgentHandle, id: string): Promise<void> {
      const deleted = await inTransaction(db, transaction => deleteMethod(transaction, id))
      if (deleted === undefined) throw notFound('Payment method')
      await agentSecrets.remove(agentId, [deleted.secret_set])
    },
  }
}

interface Sealed {
  details: string
}

export type MethodsService = ReturnType<typeof createMethodsService>

/** Returns equal texts for equal details. */
function textOf(details: Details): string {
  return JSON.stringify(Object.fromEntries(Object.entries(details).toSorted()))
}

function idsOf(rows: readonly MethodRow[]): string {
  return rows.map(({ id }) => id).join()
}
