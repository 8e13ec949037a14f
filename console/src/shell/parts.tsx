import { type ComponentType, lazy, Suspense } from 'react'
import { loadTexts } from '#console/i18n/text.ts'
import { features } from './feature.ts'

/** Components of one feature (`Feature.parts`) that others show, by name, with their properties. */
export interface Parts {
  /** A document in a panel, with a passage marked: the source of an answer. */
  document: {
    sourceId: string
    /** The id of the passage: a missing one was read again, and might be elsewhere. */
    id?: string
    /** The page of a source with several addresses, from the passage's metadata. */
    url?: string | null
    /** The page of a PDF, counted from 1. */
    page?: number | null
    /** The start of the passage in the extracted text (of `url`), in UTF-16 units. */
    start?: number
    end?: number
    /** The passage's text, which is searched on the page of a PDF. */
    passage?: string
    onClose(): void
  }
  /** A call of a tool that waits for a person, with its buttons. */
  approval: { toolCallId: string }
}

type PartProps<Name extends keyof Parts> = { name: Name } & Parts[Name]

const components = new Map<string, ComponentType<object>>()

/** Shows a part of another feature; empty if no feature has it. */
export function Part<Name extends keyof Parts>({ name, ...props }: PartProps<Name>) {
  const Component = componentOf(name)
  return (
    Component && (
      <Suspense>
        <Component {...props} />
      </Suspense>
    )
  )
}

/** `Part` has checked the properties. */
type Loader = () => Promise<{ default: ComponentType<object> }>

function componentOf(name: keyof Parts): ComponentType<object> | undefined {
  const load = features.map(({ parts }) => parts?.[name] as Loader | undefined).find(Boolean)
  if (load === undefined) return undefined
  const component =
    components.get(name) ??
    lazy(async () => {
      const module = await load()
      await loadTexts()
      return module
    })
  components.set(name, component)
  return component
}
