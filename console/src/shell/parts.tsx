import type { ComponentType } from 'react'
import { lazy, Suspense } from 'react'
import { loadTexts } from '#console/i18n/text.ts'
import { features } from './feature.ts'

/** Components that one feature has (`Feature.parts`) and others show, by name, with their properties. */
export interface Parts {
  /** A document in a panel, with a passage of it marked: what an answer rests on. */
  document: {
    sourceId: string
    /** Of the passage: one that is gone was read again since, and may stand elsewhere. */
    id?: string
    /** The page of a source with several addresses, as the passage's metadata has it. */
    url?: string | null
    /** The page of a PDF, counted from 1. */
    page?: number | null
    /** Where the passage stands in the extracted text (of `url`), in UTF-16 units. */
    start?: number
    end?: number
    /** The passage's text, which is looked for on the page of a PDF. */
    passage?: string
    onClose(): void
  }
  /** A call of a tool that waits for a person, with the buttons that decide it. */
  approval: { toolCallId: string }
}

type PartProps<Name extends keyof Parts> = { name: Name } & Parts[Name]

const components = new Map<string, ComponentType<object>>()

/** Shows a part of another feature; nothing where no feature has it. */
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

/** The properties were checked by `Part`. */
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
