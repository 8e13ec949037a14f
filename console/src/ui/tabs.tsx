import { type ReactNode, useId } from 'react'
import { onKeys } from './keys.ts'

interface TabsProps<Name extends string> {
  label: string
  tabs: readonly { name: Name; title: string }[]
  chosen: Name
  onChoose(name: Name): void
  /** The content of the chosen tab. */
  children: ReactNode
}

/** Tabs by the ARIA pattern: arrows, Home and End choose between them. Keep `chosen` in the address. */
export function Tabs<Name extends string>({ label, tabs, chosen, onChoose, children }: TabsProps<Name>) {
  const id = useId()
  const at = tabs.findIndex(({ name }) => name === chosen)

  function choose(index: number) {
    const tab = tabs.at(index % tabs.length)
    if (tab === undefined) return
    onChoose(tab.name)
    document.getElementById(`${id}-${tab.name}`)?.focus()
  }

  return (
    <>
      <div
        role="tablist"
        tabIndex={-1}
        aria-label={label}
        className="tabs"
        onKeyDown={onKeys({
          ArrowRight: () => choose(at + 1),
          ArrowLeft: () => choose(at - 1),
          Home: () => choose(0),
          End: () => choose(-1),
        })}
      >
        {tabs.map(({ name, title }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={name === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={name === chosen ? 0 : -1}
            onClick={() => onChoose(name)}
          >
            {title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`}>
        {children}
      </div>
    </>
  )
}

interface SegmentsProps<Name extends string> {
  label: string
  segments: readonly { name: Name; title: string }[]
  chosen: Name
  onChoose(name: Name): void
}

/** A few exclusive choices, such as "Graph" and "Outline". */
export function Segments<Name extends string>({ label, segments, chosen, onChoose }: SegmentsProps<Name>) {
  return (
    <fieldset className="seg">
      <legend className="sr">{label}</legend>
      {segments.map(({ name, title }) => (
        <button key={name} type="button" aria-pressed={name === chosen} onClick={() => onChoose(name)}>
          {title}
        </button>
      ))}
    </fieldset>
  )
}
