/** Preconditions of a transfer. Every error is a sentence for the operator. */
import { sql } from 'kysely'
import { keyIdOf } from '#platform/encryption/secret-box.ts'
import { readKeyCheck } from '../encryption/check-encryption-key.ts'
import { readTransfer, type Transfer } from './marker.ts'
import type { StorageEnd } from './storage-end.ts'
import { platformPlans } from './table-plans.ts'

/** Lists the agents to copy, ordered by id. */
export async function agentsToCopy(source: StorageEnd, agent: string | null): Promise<string[]> {
  const unfinished = await readTransfer(source.platform)
  if (unfinished !== undefined)
    throw new Error(
      `${source.name} is itself an incomplete copy, of ${unfinished.from}. Complete it, or copy from there.`,
    )
  const rows = await source.platform.selectFrom('agents').select('id').orderBy('id').execute()
  const agents = rows.map(({ id }) => id)
  if (agent === null) return agents
  if (!agents.includes(agent)) throw new Error(`there is no agent ${agent} in ${source.name}.`)
  return [agent]
}

/** Throws unless the target is empty or holds the rest of an attempt at the same transfer. */
export async function requireFreeTarget(
  { from, agent }: Transfer,
  source: StorageEnd,
  target: StorageEnd,
): Promise<void> {
  const begun = await readTransfer(target.platform)
  if (begun !== undefined && (begun.from !== from || begun.agent !== agent))
    throw new Error(
      `${target.name} holds an incomplete copy of ${begun.agent === null ? '' : `the agent ${begun.agent} of `}` +
        `${begun.from}. Complete it with the command that began it, or copy to an empty place.`,
    )
  if (agent !== null) await requireSameKey(source, target)
  if (begun !== undefined) return
  if (agent === null) await requireEmpty(target)
  else await requireNoSuchAgent(agent, source, target)
}

async function requireEmpty(target: StorageEnd): Promise<void> {
  const tables: string[] = []
  for (const table of Object.keys(platformPlans)) {
    const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(target.platform)
    if (rows.length > 0) tables.push(table)
  }
  const agents = await target.storedAgents()
  if (tables.length === 0 && agents.length === 0) return
  const what =
    tables.length > 0 ? `rows in ${tables.join(', ')}` : `databases of agents: ${agents.join(', ')}`
  throw new Error(`${target.name} is not empty: it holds ${what}. Name an empty folder or database.`)
}

async function requireNoSuchAgent(agent: string, source: StorageEnd, target: StorageEnd): Promise<void> {
  const nameOf = (end: StorageEnd) => end.platform.selectFrom('agents').select(['id', 'name', 'name_key'])
  const { name, name_key } = await nameOf(source).where('id', '=', agent).executeTakeFirstOrThrow()
  const [same] = await nameOf(target).where('id', '=', agent).execute()
  if (same !== undefined) throw new Error(`${target.name} has an agent ${agent} already.`)
  const [namesake] = await nameOf(target).where('name_key', '=', name_key).execute()
  if (namesake !== undefined)
    throw new Error(
      `${target.name} has another agent of the name ${JSON.stringify(name)}. Give one of the two another name.`,
    )
  const removals = await target.platform.selectFrom('agent_removals').selectAll().execute()
  if (removals.some(({ agent_id }) => agent_id === agent))
    throw new Error(
      `a deleted agent ${agent} is still to be removed from ${target.name}. Start the service there once, which does so.`,
    )
  if ((await target.storedAgents()).includes(agent))
    throw new Error(`${target.name} holds a database of an agent ${agent} that it does not know. Remove it.`)
}

/** Throws if the keys differ: credentials are copied sealed, and only their own key opens them. */
async function requireSameKey(source: StorageEnd, target: StorageEnd): Promise<void> {
  const [theirs, ours] = await Promise.all([source, target].map(end => readKeyCheck(end.platform)))
  if (theirs === undefined || ours === undefined || keyIdOf(theirs) === keyIdOf(ours)) return
  throw new Error(
    `the data in ${target.name} has another encryption key than that in ${source.name}. Change one of them with ` +
      'npm run rotate-key first.',
  )
}
