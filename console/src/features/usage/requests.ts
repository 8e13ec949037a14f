import type { Static } from 'typebox'
import { get } from '#console/api/request.ts'
import type { Agent } from '#console/shell/agent.tsx'
import type { Key } from '#features/access/keys/keys.schema.ts'
import type { settingsAnswerSchema } from '#features/agents/settings.schema.ts'
import type { Usage } from '#features/usage/usage.schema.ts'
import type { usageSearch } from './feature.ts'

export type UsageRow = Usage['usage'][number]
export type Group = (typeof usageSearch.group)[number]

/** Reads the usage of this month (UTC). */
export const getUsage = ({ api }: Agent, group: Group) => get<Usage>(`${api}/usage`, { group })
export const getSettings = ({ api }: Agent) => get<Static<typeof settingsAnswerSchema>>(`${api}/settings`)
export const listKeys = ({ api }: Agent) => get<{ keys: Key[] }>(`${api}/keys`, { limit: 1000 })
