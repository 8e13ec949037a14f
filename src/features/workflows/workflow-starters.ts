import { fromForeignSchema } from '#models/tools/foreign-schema.ts'
import type { Tool, ToolParameters } from '#models/tools/tool.ts'
import { AppError, notFound } from '#platform/errors.ts'
import type { EventHandler } from '#platform/jobs/events.ts'
import { resolveTemplates } from '#platform/templates/resolve-templates.ts'
import type { AgentDatabases, AgentHandle } from '#storage/agent-databases.ts'
import type { Condition } from './engine/conditions.ts'
import { holds } from './engine/conditions.ts'
import type { ExecutionsService } from './executions.service.ts'
import { maxDepth, runningDepth } from './running-depth.ts'
import { listOffered } from './workflows.repository.ts'
import type { WorkflowSummary } from './workflows.schema.ts'
import type { WorkflowsService } from './workflows.service.ts'
import { triggerOf } from './workflows.service.ts'

interface Dependencies {
  workflows: WorkflowsService
  executions: ExecutionsService
  agentDatabases: AgentDatabases
}

/** A model waits so long for a workflow, in milliseconds; then it is told that it still runs. */
const toolPatienceMs = 60_000

/** What starts workflows beside people and clocks: events, secret addresses and models. */
export function createStarters({ workflows, executions, agentDatabases }: Dependencies) {
  /** Runs the workflow for a model. */
  async function callTool(
    agent: AgentHandle,
    id: string,
    input: Record<string, unknown>,
    signal: AbortSignal,
  ) {
    const started = await executions.start(agent, {
      workflow_id: id,
      input,
      cause: { kind: 'tool' },
      depth: (runningDepth.getStore() ?? -1) + 1,
      when_busy: 'refuse',
    })
    const { execution_id } = started
    const ended = await executions.ended(agent, execution_id, toolPatienceMs, signal)
    if (ended === undefined) return { execution_id, status: 'running' }
    if (ended.status === 'complete') return JSON.parse(ended.output ?? 'null')
    throw new AppError('TOOL_FAILED', ended.error ?? `The execution ${execution_id} was ${ended.status}.`)
  }

  function offer(agent: AgentHandle, { id, version, tool }: WorkflowSummary): Tool[] {
    if (tool === null) return []
    const { name, description, parameters = {}, requires_approval: requiresApproval = true } = tool
    const schema = { type: 'object', properties: {}, ...parameters } as ToolParameters
    return [
      {
        name,
        description,
        ...fromForeignSchema(schema),
        requiresApproval,
        version: () => `${id}@${version}`,
        execute: (input, signal) => callTool(agent, id, input, signal),
      },
    ]
  }

  const onEvent: EventHandler<AgentHandle> = {
    lane: 'timers',
    async handle(event, { agent, log }) {
      const workflow = await workflows.get(agent, event.ref).catch(() => undefined)
      if (workflow === undefined) return
      const input = event.payload as Record<string, unknown>
      const depth = typeof input.depth === 'number' ? input.depth + 1 : 0
      const trigger = triggerOf(workflow)
      const conditions = resolveTemplates(trigger.filter, { input }).value as Condition[]
      if (trigger.event !== event.name || !conditions.every(holds)) return
      const chain = { workflow: event.ref, event: event.name, depth }
      if (depth > maxDepth)
        return log.warn(chain, 'a chain of executions is too long; its next one is not started')
      await executions
        .start(agent, {
          workflow_id: event.ref,
          input,
          cause: { kind: 'event', ref: event.name },
          depth,
          when_busy: 'queue',
          key: `event:${event.id}:${event.ref}`,
        })
        .catch(error => {
          if (!(error instanceof AppError) || error.code !== 'CONFLICT') throw error
          log.info({ ...chain, reason: error.message }, 'an event started nothing')
        })
    },
  }

  return {
    onEvent,

    tools: async (agent: AgentHandle): Promise<Tool[]> =>
      (await listOffered(agent.db)).flatMap(workflow => offer(agent, workflow)),

    async callHook(agentId: string, token: string, body: unknown) {
      const agent = await agentDatabases.acquire(agentId).catch(() => undefined)
      try {
        const id = agent && (await workflows.findHooked(agent, token))
        if (agent === undefined || id === undefined) throw notFound('Address')
        const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
        const input = isObject ? (body as Record<string, unknown>) : { body }
        return await executions.start(agent, {
          workflow_id: id,
          input,
          cause: { kind: 'webhook' },
          when_busy: 'queue',
        })
      } finally {
        agent?.release()
      }
    },
  }
}
