import type { ComponentType } from 'react'
import type { Ability } from '#console/api/caller.ts'
import type { IconName } from '#console/ui/icon.tsx'
import type { Agent } from './agent.tsx'
import type { Parts } from './parts.tsx'
import type { Title, View } from './view.ts'

/** An action that a person can start from anywhere, found by Ctrl K. */
export interface Command {
  id: string
  title: Title
  icon: IconName
  needs: Ability
  /** The target: a path below `/a/{agent}/`, with a query if needed. */
  to: string
}

/** A page beside the agents’ views, without rail and bar, such as that of a sign-in. */
export interface Page {
  /** An address that the service answers with the console (`console.routes.ts`). */
  path: string
  load(): Promise<{ default: ComponentType }>
}

/** A feature of the console: `features/<name>/feature.ts` exports one as its default, and is found by its place. */
export interface Feature {
  views: readonly View[]
  pages?: readonly Page[]
  commands?: readonly Command[]
  /** Components that other features show by name (`shell/parts.tsx`). */
  parts?: { [Name in keyof Parts]?: () => Promise<{ default: ComponentType<Parts[Name]> }> }
}

const modules = import.meta.glob<{ default: Feature }>('../features/*/feature.ts', { eager: true })
export const features: readonly Feature[] = Object.values(modules).map(module => module.default)

const groups = ['talk', 'know', 'act', 'setUp'] as const
export const views = features.flatMap(feature => feature.views)
export const pages = features.flatMap(feature => feature.pages ?? [])

type RailView = View & Required<Pick<View, 'rail'>>
const isInRail = (view: View): view is RailView => view.rail !== undefined

/** The views of the rail by their groups, in order. */
export const railGroups = groups.map(group => ({
  group,
  views: views
    .filter(isInRail)
    .filter(({ rail }) => rail.group === group)
    .toSorted((one, other) => one.rail.order - other.rail.order),
}))
/** True if the frame lists it: the role `chat` sees only the chat, though some views need no ability. */
export const isFor = (agent: Agent, { needs }: Pick<View, 'needs'>) =>
  agent.may(needs) && (needs !== 'any' || agent.may('read'))

export const railViews = railGroups.flatMap(group => group.views)
