import { LRUCache } from 'lru-cache'
import { systemClock } from '#platform/clock.ts'
import type { Endpoint } from '../providers/provider.ts'

/** What models showed in earlier answers, by their server's address and their name, for some time. */
export interface ModelHabits {
  /** Whether its thoughts may arrive with nothing but a closing tag. */
  closesUnopened(): boolean
  closedUnopened(): void
}

/** In milliseconds. Models load other templates. */
const unopenedMs = 60 * 60_000

const unopened = new LRUCache<string, true>({ max: 1000, ttl: unopenedMs, perf: systemClock })

/** Models whose own templates open the block of their thoughts: DeepSeek R1, QwQ, Qwen3 Thinking, Magistral and others. */
const openedByTemplate = /(^|[^a-z])(r1|qwq|thinking|reasoner|reasoning|magistral)([^a-z]|$)/i

export function habitsOf(modelId: string, { baseUrl }: Pick<Endpoint, 'baseUrl'>): ModelHabits {
  const key = JSON.stringify([baseUrl, modelId])
  return {
    closesUnopened: () => openedByTemplate.test(modelId) || unopened.has(key),
    closedUnopened: () => void unopened.set(key, true),
  }
}
