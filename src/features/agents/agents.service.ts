import type { Kysely } from 'kysely'
import { type Clock, timestamp } from '#platform/clock.ts'
import { describeChange } from '#platform/current-change.ts'
import { AppError, conflict, invalid, notFound } from '#platform/errors.ts'
import type { Ids } from '#platform/ids.ts'
import type { Log } from '#platform/logging/log.ts'
import type { AgentTables } from '#storage/tables.ts'
import { type AgentRecord, type AgentsRepository, countRecords, type Reach } from './agents.repository.ts'
import type { AgentChanges, AgentListQuery, NewAgent } from './agents.schema.ts'
import type { SettingsService } from './settings.service.ts'

interface Dependencies {
  repository: AgentsRepository
  settings: SettingsService
  /** The id of the agent that always exists. */
  defaultAgentId: string
  /** Closes the agent's database and deletes it with all its files. */
  removeDatabase(agentId: string): Promise<void>
  /** Called when an agent is deleted, and with it the roles on it. */
  forgetRoles(): void
  /** Called when an agent was disabled. */
  disabled(agentId: string): void
  /** Called when the status of an agent was set to active. */
  activated(agentId: string): Promise<void>
  clock: Clock
  ids: Ids
  log: Log
}

/** The form of agent ids, in any letter case. */
const idForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export function createAgentsService(needs: Dependencies) {
  const { repository, defaultAgentId, clock, ids, log } = needs

  async function find(id: string) {
    const agent = await repository.find(id)
    if (agent === undefined) throw notFound('Agent')
    return agent
  }

  async function findWithSettings(id: string) {
    const agent = await find(id)
    return { ...agent, settings: await needs.settings.inForce(id, agent.settings) }
  }

  /** Rejects names that could be taken for an agent's id. The name `default` is taken. */
  async function requireName(name: string): Promise<void> {
    const isId = idForm.test(name) || (name !== defaultAgentId && (await repository.find(name)) !== undefined)
    if (isId) throw invalid('name', 'must not have the form of an id, such as a UUID')
  }

  async function removeData(id: string): Promise<void> {
    await needs.removeDatabase(id)
    await repository.finishRemoving(id)
  }

  return {
    find,

    /** Finds an agent by its name, in any letter case. */
    findNamed: (name: string) => repository.findNamed(name),

    isDisabled: async (id: string) => (await repository.find(id))?.status === 'disabled',

    /** Returns true if the agents can be read. */
    isReady: async () => (await repository.find(defaultAgentId)) !== undefined,

    list: (reach: Reach, query: AgentListQuery) => repository.listReachable(reach, defaultAgentId, query),

    findWithSettings,

    async get(id: string, database: Kysely<AgentTables>) {
      const [agent, stats] = await Promise.all([findWithSettings(id), countRecords(database)])
      return { ...agent, stats }
    },

    /** Creates an agent that the user owns. */
    async create(input: NewAgent, ownerEmail: string) {
      await requireName(input.name)
      const agent = newRecord(ids.record(), input, timestamp(clock))
      if (!(await repository.insert(agent, { id: ids.record(), email: ownerEmail })))
        throw nameTaken(input.name)
      return agent
    },

    async update(id: string, { name, description, status }: AgentChanges) {
      const changes = definedOf({ name, description, status })
      const agent = await find(id)
      if (id === defaultAgentId) refuseDefaultChanges(agent, changes)
      else if (name !== undefined && name !== agent.name) await requireName(name)
      const updated_at = timestamp(clock)
      describeChange(changes)
      if (!(await repository.update(id, { ...changes, updated_at })))
        throw nameTaken(changes.name ?? agent.name)
      if (status === 'disabled') needs.disabled(id)
      if (status === 'active') await needs.activated(id)
      return { ...agent, ...changes, updated_at }
    },

    /** Deletes the agent with everything that belongs to it. */
    async remove(id: string): Promise<void> {
      if (id === defaultAgentId) throw new AppError('FORBIDDEN', 'The agent "default" cannot be deleted.')
      const isRemoved = await repository.remove(id).finally(needs.forgetRoles)
      if (!isRemoved) throw notFound('Agent')
      await removeData(id)
    },

    /** Called at start: creates the agent that always exists, and completes deletions that a crash interrupted. */
    async prepare(): Promise<void> {
      if ((await repository.find(defaultAgentId)) === undefined)
        await repository.insert(newRecord(defaultAgentId, { name: defaultAgentId }, timestamp(clock)))
      // A failing bucket must not keep the service from starting.
      for (const id of await repository.listRemoving())
        await removeData(id).catch(error =>
          log.error(
            { err: error, agentId: id },
            'a deleted agent could not be removed; the next start tries again',
          ),
        )
    },
  }
}

function newRecord(id: string, { name, description = '' }: NewAgent, now: string) {
  return { id, name, description, status: 'active' as const, settings: {}, created_at: now, updated_at: now }
}

function definedOf(changes: { [Key in keyof AgentChanges]: AgentChanges[Key] | undefined }): AgentChanges {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
}

function nameTaken(name: string): AppError {
  return conflict(
    `An agent named "${name}" exists already; letter case does not tell names apart. Choose another name.`,
  )
}

/** Rejects changes to the agent `default`. Unchanged values are no change. */
function refuseDefaultChanges(
  agent: AgentRecord,
  { name = agent.name, status = agent.status }: AgentChanges,
): void {
  if (name !== agent.name) throw conflict('The agent "default" keeps its name.')
  if (status !== agent.status) throw new AppError('FORBIDDEN', 'The agent "default" is always active.')
}

export type AgentsService = ReturnType<typeof createAgentsService>
