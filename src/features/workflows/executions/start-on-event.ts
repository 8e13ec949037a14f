import { AppError } from '#platform/errors.ts'
import type { EventHandler } from '#platform/jobs/events.ts'
import { aliasInCamelCase, createTemplates } from '#platform/templates/resolve-templates.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { requireWorkflow, triggerOf } from '../definitions/workflows.service.ts'
import { type Condition, match } from '../engine/conditions.ts'
import type { ExecutionsService } from './executions.service.ts'

/** Starts each workflow whose trigger names the event and whose filter matches, once for each event. */
export function createStartOnEvent(executions: Pick<ExecutionsService, 'start'>): EventHandler<AgentHandle> {
  return {
    lane: 'timers',
    async handle({ id, name, ref, payload, depth }, { agent, log }) {
      // Viewers and models can read an execution's input, and must not get links that let their reader drive.
      const { takeover_url: _link, ...input } = payload as Record<string, unknown>
      try {
        const { event, filter } = triggerOf((await requireWorkflow(agent.db, ref)).version)
        const conditions = (await createTemplates({ input: aliasInCamelCase(input) }).resolve(
          filter,
        )) as Condition[]
        if (event !== name || !(await match(conditions))) return
        await executions.start(agent, {
          workflow_id: ref,
          input,
          cause: { kind: 'event', ref: name },
          // Ends of executions carry their own depth.
          depth: Number(depth ?? input.depth ?? -1) + 1,
          when_busy: 'queue',
          key: `event:${id}:${ref}`,
        })
      } catch (error) {
        // The workflow or the agent was stopped meanwhile, or the chain of executions is too long.
        if (!(error instanceof AppError && error.isPermanent)) throw error
        log.warn({ workflow: ref, event: name, reason: error.message }, 'an event did not start its workflow')
      }
    },
  }
}
