import type { ComponentType } from 'react'
import type { Ability } from '#console/api/caller.ts'
import type { Language } from '#console/i18n/text.ts'
import type { IconName } from '#console/ui/icon.tsx'
import type { Agent } from './agent.tsx'
import type { Parts } from './parts.tsx'

/** A name that the frame shows before the texts of the view are loaded. */
export type Title = Readonly<Record<Language, string>>

/** What the module of a view exports. */
export interface ViewModule {
  default: ComponentType
  /** Starts the view's queries, when a person is about to open it. Nothing waits for them. */
  prefetch?(context: { agent: Agent; params: Readonly<Record<string, string>> }): unknown
}

export interface View {
  /** Below `/a/{agent}/`, such as `knowledge` or `knowledge/$sourceId`. */
  path: string
  title: Title
  /** Who may open it: others see the view's name and what it needs, and don't see it in the rail. */
  needs: Ability
  load(): Promise<ViewModule>
  /** Its place in the rail; none for views that others lead to. */
  rail?: {
    group: 'talk' | 'know' | 'act' | 'setUp'
    /** Among those of its group. */
    order: number
    icon: IconName
    /** The letter that opens it after G. */
    key?: string
    /** How many things wait in it: a hook. */
    useCount?(agent: Agent): number | undefined
  }
}

/** Something that a person can do from anywhere, found by Ctrl K. */
export interface Command {
  id: string
  title: Title
  icon: IconName
  needs: Ability
  /** Where it leads: a path below `/a/{agent}/`, with a query if needed. */
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
  /** Components that other features show by their name (`shell/parts.tsx`). */
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
/** What a caller meets of an agent: the role `chat` sees chat alone, though some views need no ability. */
export const isFor = (agent: Agent, { needs }: Pick<View, 'needs'>) =>
  agent.may(needs) && (needs !== 'any' || agent.may('read'))

export const railViews = railGroups.flatMap(group => group.views)
