import type { ComponentType } from 'react'
import type { Ability } from '#console/api/caller.ts'
import type { Language } from '#console/i18n/text.ts'
import type { IconName } from '#console/ui/icon.tsx'
import type { Agent } from './agent.tsx'

/** A name that the frame shows before the texts of the view are loaded. */
export type Title = Readonly<Record<Language, string>>

/** The search parameters of a view by name: texts, numbers, or one of some words. All are optional. */
export type SearchSchema = Readonly<Record<string, 'text' | 'number' | readonly string[]>>

export type SearchOf<Schema extends SearchSchema> = {
  -readonly [Name in keyof Schema]?:
    | (Schema[Name] extends readonly (infer Word)[] ? Word : Schema[Name] extends 'number' ? number : string)
    | undefined
}

/** The names of a path's parameters: `sourceId` of `knowledge/$sourceId`. */
type NameIn<Path extends string> = Path extends `${string}$${infer Name}/${infer Rest}`
  ? Name | NameIn<Rest>
  : Path extends `${string}$${infer Name}`
    ? Name
    : never

/** The properties of a view’s component: the parameters of its path, and those of its search that are valid. */
export interface ViewProps<
  Names extends string = never,
  Schema extends SearchSchema = Record<never, 'text'>,
> {
  params: Readonly<Record<Names, string>>
  /** Required, so that a view without `search` in its declaration does not compile. */
  search: Required<SearchOf<Schema>>
}

/** The argument of a view’s `prefetch`. */
export interface LoadContext<Names extends string = never> extends Pick<ViewProps<Names>, 'params'> {
  agent: Agent
}

export interface View<Path extends string = string, Schema extends SearchSchema = SearchSchema> {
  /** The path below `/a/{agent}/`, such as `knowledge` or `knowledge/$sourceId`. */
  path: Path
  /** The search parameters that the view reads. */
  search?: Schema
  title: Title
  /** The ability to open the view: without it, the rail hides the view and its page names the ability. */
  needs: Ability
  load(): Promise<{
    default: ComponentType<ViewProps<NameIn<Path>, NoInfer<Schema>>>
    /** Starts the view's queries when a person is about to open it. The result is not awaited. */
    prefetch?: (context: LoadContext<NameIn<Path>>) => unknown
  }>
  /** The place in the rail; absent for views that others link to. */
  rail?: {
    group: 'talk' | 'know' | 'act' | 'setUp'
    /** The place within the group. */
    order: number
    icon: IconName
    /** The letter that opens the view after G. */
    key?: string
    /** A hook that returns the number of waiting items in the view. */
    useCount?(agent: Agent): number | undefined
  }
}

/** Checks that a view’s component takes the parameters of its path and search. Views without parameters don’t need it. */
export const defineView = <const Path extends string, const Schema extends SearchSchema>(
  view: View<Path, Schema>,
): View => view as unknown as View

/** Returns the declared parameters of an address. Others, and values that the schema does not allow, are left out. */
export function readSearch<Schema extends SearchSchema>(
  schema: Schema,
  given: Readonly<Record<string, unknown>>,
): Required<SearchOf<Schema>> {
  const entries = Object.entries(schema).map(([name, kind]) => [name, readValue(kind, given[name])])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

/** Returns the value if its kind is right. The router reads `?find=12` as a number, which a text may be, too. */
function readValue(kind: SearchSchema[string], value: unknown): string | number | undefined {
  if (kind === 'number') return typeof value === 'number' ? value : undefined
  const text = value === null || typeof value === 'object' ? '' : String(value ?? '')
  if (kind === 'text') return text === '' ? undefined : text
  return kind.find(word => word === text)
}
