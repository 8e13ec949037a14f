import { LRUCache } from 'lru-cache'
import { systemClock } from '#platform/clock.ts'
import type { Endpoint } from '../providers/provider.ts'

/** Habits of models in earlier answers, by server address and model name, for some time. */
export interface ModelHabits {
  /** True if thoughts can arrive with only a closing tag. */
  closesUnopened(): boolean
  closedUnopened(): void
}

/** Time that a habit is remembered (ms). Models can load other templates. */
const unopenedMs = 60 * 60_000

const unopened = new LRUCache<string, true>({ max: 1000, ttl: unopenedMs, perf: systemClock })

/** Models with templates that open the block of thoughts: DeepSeek R1, QwQ, Qwen3 Thinking and others. */
const openedByTemplate = /(^|[^a-z])(r1|qwq|thinking|reasoner|reasoning|magistral)([^a-z]|$)/i

export function habitsOf(modelId: string, { baseUrl }: Pick<Endpoint, 'baseUrl'>): ModelHabits {
  const key = JSON.stringify([baseUrl, modelId])
  return {
    closesUnopened: () => openedByTemplate.test(modelId) || unopened.has(key),
    closedUnopened: () => void unopened.set(key, true),
  }
}
