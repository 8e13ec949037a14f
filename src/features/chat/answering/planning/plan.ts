import { type AppError, conflict, invalid } from '#platform/errors.ts'
import { type Form, formOf } from '../../form/form.ts'

import { runPlanned } from './run-planned.ts'
import type { Dependencies, PlanOptions, TurnPlan } from './turn-plan.ts'

export function createTurnPlanner(dependencies: Dependencies) {
  const { settings: agents, models, usage } = dependencies

  /** Throws CONFLICT for an agent that is not active, and errors of budgets and of the choice of a model. */
  async function plan(agentId: string, options: PlanOptions): Promise<TurnPlan> {
    const { name, status, settings, credentials } = await agents.profileOf(agentId)
    if (status !== 'active')
      throw conflict(`This agent is ${status} and does not answer. Set its status to active first.`)
    const chosen = await models.resolve({ settings, credentials, requested: options.model })
    const meter = await usage.meter({ ...chosen, model: chosen.id, agentId, settings })
    const form = await formFor(dependencies, options, chosen.provider)
    const own = { agentName: name, instructions: options.instructions ?? settings.system_prompt }
    const run = runPlanned(dependencies, options, { chosen, settings, meter, form, own })
    return { model: chosen.id, settings, run }
  }

  return { plan, refuse: refusedBy(dependencies) }
}

export type TurnPlanner = ReturnType<typeof createTurnPlanner>

async function formFor(
  { searchWorkers }: Pick<Dependencies, 'searchWorkers'>,
  { response_format }: PlanOptions,
  provider: string,
): Promise<Form | undefined> {
  const form = await formOf(searchWorkers, response_format)
  if (form === undefined || provider !== 'builtin') return form
  throw invalid('response_format', 'can’t be used with the model builtin, which answers in its own words')
}

/** Returns the plan for a question that is stored but refused: its turn fails with the refusal. */
function refusedBy({ settings: { profileOf } }: Pick<Dependencies, 'settings'>) {
  return async (agentId: string, refusal: AppError, { model }: PlanOptions): Promise<TurnPlan> => {
    const { settings } = await profileOf(agentId)
    const run = () => Promise.reject(refusal)
    return { model: model ?? settings.llm_model ?? '', settings, run }
  }
}
