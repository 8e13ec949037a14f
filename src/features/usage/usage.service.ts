import type { AnswerPart, CallOptions, Parts } from '#models/language-model/language-model.ts'
import type { Provider } from '#models/providers/provider.ts'
import { type Actor, anonymous, currentActor } from '#platform/actor.ts'
import { type Clock, timestamp } from '#platform/clock.ts'
import { AppError, invalid } from '#platform/errors.ts'
import type { Log } from '#platform/logging/log.ts'
import type { Metrics } from '#platform/metrics.ts'
import { createBudgets, type Limits, type Spending } from './budgets.service.ts'
import { createCallCount, estimateOf, type ReportedUsage } from './count-call.ts'
import { dollarsOf, type ModelPrice } from './money.ts'
import { addUsage, sumUsage, type UsageCounts, type UsageDatabase, usageCounts } from './usage.repository.ts'
import type { Usage, UsageQuery } from './usage.schema.ts'

/** The fields that a turn's calls are counted by. */
interface Metered extends Spending {
  provider: Provider
  model: string
}

/** Returns the name that a call is counted under. All unknown models share one, because callers can invent any number. */
function countedName(model: string, error: unknown): string {
  return error instanceof AppError && error.code === 'MODEL_UNKNOWN' ? 'unknown' : model
}

/** Begins a call. It calls `report` with each usage that the service reports. */
type StartCall = (report: (usage: ReportedUsage) => void) => Parts<AnswerPart>

interface Dependencies {
  platform: UsageDatabase
  /** Prices by a model's id, or by `provider/id`. */
  modelPrices: Readonly<Record<string, ModelPrice>>
  houseLimits: { all: Limits; person: Limits }
  metrics: Metrics
  clock: Clock
  log: Log
}

type Counted = ReturnType<ReturnType<typeof createCallCount>['counted']>

/** Adds usage; a failure to count does not lose the answer. */
function createAdd({ platform, metrics, clock, log }: Dependencies) {
  return async (metered: Metered, by: Author, turns: number, counted: Counted) => {
    const { agentId, provider, model, paidBy } = metered
    const { tokens, estimated, cost } = counted
    const { input, cached, output } = tokens
    metrics.countModelCall(provider, (cost ?? 0) / 1e9)
    const directions = { input, cached_input: cached, output, estimated } as const
    for (const [direction, count] of Object.entries(directions))
      metrics.countTokens(provider, direction as keyof typeof directions, count)
    const row = {
      agent_id: agentId,
      day: timestamp(clock).slice(0, 10),
      ...by,
      model,
      turns,
      calls: 1,
      input_tokens: input,
      cached_tokens: cached,
      output_tokens: output,
      estimated_tokens: estimated,
      cost: cost ?? 0,
      unpriced_calls: cost === undefined ? 1 : 0,
      platform_tokens: paidBy === 'platform' ? input + output + estimated : 0,
      platform_cost: paidBy === 'platform' ? (cost ?? 0) : 0,
    }
    await addUsage(platform, row).catch(error => log.error({ err: error, ...row }, 'usage was not counted'))
  }
}

export function createUsageService(needs: Dependencies) {
  const { platform, modelPrices, clock, log } = needs
  const budgets = createBudgets(needs)
  const add = createAdd(needs)

  return {
    /** Counts the model calls in one turn of the current actor. Throws BUDGET_SPENT; each call can throw it too. */
    async meter(metered: Metered) {
      const actor = currentActor.getStore() ?? anonymous
      const by = authorOf(actor)
      const limits = await budgets.of(metered, actor)
      await budgets.reserve(limits, { tokens: 0, cost: 0 })
      const price = modelPrices[`${metered.provider}/${metered.model}`] ?? modelPrices[metered.model]
      let turns = 1
      let spent: number | undefined = 0
      return {
        /** Returns the cost of the turn so far, in billionths of a US dollar; undefined if the price of a call is unknown. */
        spent: () => spent,

        /** Continues the count of a turn that had cost `before`. */
        resume(before: number | undefined): void {
          turns = 0
          spent = before
        },

        stream(options: CallOptions, start: StartCall): Parts<AnswerPart> {
          return async take => {
            const held = limits.length > 0 ? await budgets.reserve(limits, estimateOf(options, price)) : []
            const call = createCallCount()
            let { model } = metered
            try {
              await start(call.report)(part => {
                call.add(part)
                take(part)
              }).catch(error => {
                model = countedName(model, error)
                throw error
              })
            } finally {
              const hasCost = call.hasBegun() || options.abortSignal?.aborted
              const isFree = metered.provider === 'builtin' || !hasCost
              const counted = isFree ? call.counted(undefined, price) : call.counted(options, price)
              const { cost, tokens, estimated } = counted
              spent = cost === undefined || spent === undefined ? undefined : spent + cost
              const of = turns
              turns = 0
              await add({ ...metered, model }, by, of, counted)
              await budgets
                .settle(held, { tokens: tokens.input + tokens.output + estimated, cost: cost ?? 0 })
                .catch(error =>
                  log.error({ err: error, agentId: metered.agentId }, 'a reservation was not settled'),
                )
            }
          }
        },

        /** Returns the usage of the turn with its cost, if the prices of all its calls are known. */
        priced: <Of extends object>(usage: Of | undefined): (Of & { cost?: string }) | undefined =>
          usage && { ...usage, ...(spent !== undefined && { cost: dollarsOf(spent) }) },
      }
    },

    async sums(agentId: string, query: UsageQuery): Promise<Usage> {
      const today = timestamp(clock).slice(0, 10)
      const { from = `${today.slice(0, 7)}-01`, to = today, group = 'day' } = query
      if (from > to) throw invalid('from', `must not be after ${to}, the last day`)
      const rows = await sumUsage(platform, { agentId, from, to, group })
      const sums = usageCounts.map(name => [name, rows.reduce((sum, row) => sum + row[name], 0)] as const)
      return {
        from,
        to,
        total: shown(Object.fromEntries(sums) as UsageCounts),
        usage: rows.map(({ value, ...row }) => ({ [group]: value, ...shown(row) })),
      }
    },
  }
}

export type UsageService = ReturnType<typeof createUsageService>
export type Meter = Awaited<ReturnType<UsageService['meter']>>

type Author = ReturnType<typeof authorOf>

/** Returns the author of usage. Actors without an id, such as callers without a user, are one; a channel counts by its name. */
function authorOf({ kind, id, name, person }: Actor) {
  const own = kind === 'channel' ? name : id
  return {
    author: own === null ? kind : `${kind}:${own}`,
    person: person ?? (kind === 'person' && id !== null ? id : ''),
  }
}

function shown({ cached_tokens, cost, ...counts }: UsageCounts) {
  return { ...counts, cached_input_tokens: cached_tokens, cost: dollarsOf(cost) }
}
