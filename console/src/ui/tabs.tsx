import type { ReactNode } from 'react'
import { useId, useRef } from 'react'

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
  const list = useRef<HTMLDivElement>(null)
  const at = tabs.findIndex(({ name }) => name === chosen)

  function press(key: string): boolean {
    const targets: Record<string, number> = {
      ArrowRight: (at + 1) % tabs.length,
      ArrowLeft: (at + tabs.length - 1) % tabs.length,
      Home: 0,
      End: tabs.length - 1,
    }
    const target = targets[key]
    const tab = target === undefined ? undefined : tabs[target]
    if (target === undefined || tab === undefined) return false
    onChoose(tab.name)
    ;(list.current?.children[target] as HTMLElement | undefined)?.focus()
    return true
  }

  return (
    <>
      <div
        ref={list}
        role="tablist"
        tabIndex={-1}
        aria-label={label}
        className="tabs"
        onKeyDown={event => {
          if (press(event.key)) event.preventDefault()
        }}
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
