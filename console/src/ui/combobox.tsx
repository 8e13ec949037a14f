import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { frameText } from '#console/i18n/frame-text.ts'
import { useText } from '#console/i18n/text.ts'
import { onKeys } from './keys.ts'

export interface Option {
  id: string
  label: string
  /** The row's content instead of the label. */
  row?: ReactNode
  /** Other words that find the option. */
  keywords?: string
}

interface ComboboxProps {
  label: string
  options: readonly Option[]
  onChoose(option: Option): void
  placeholder?: string
  /** Reports the typed text, for options that the server finds. */
  onType?(typed: string): void
}

/** A field that finds one of many: typing filters, arrows move, Enter chooses. It keeps the focus. */
export function Combobox({ label, options, onChoose, placeholder, onType }: ComboboxProps) {
  const t = useText(frameText)
  const id = useId()
  const [typed, setTyped] = useState('')
  const [active, setActive] = useState(0)
  const list = useRef<HTMLDivElement>(null)
  const found = options.filter(option => matches(option, typed))
  const at = Math.min(active, found.length - 1)
  const move = (to: number) => setActive((to + found.length) % Math.max(1, found.length))

  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: 'nearest' })
  }, [at])

  const option = found[at]
  const press = onKeys({
    ArrowDown: () => move(at + 1),
    ArrowUp: () => move(at - 1),
    Enter: option && (() => onChoose(option)),
  })

  return (
    <div className="combobox">
      <input
        className="input"
        role="combobox"
        aria-label={label}
        aria-expanded={found.length > 0}
        aria-autocomplete="list"
        aria-controls={id}
        aria-activedescendant={option && `${id}-${at}`}
        autoComplete="off"
        placeholder={placeholder}
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value)
          setActive(0)
          onType?.(target.value)
        }}
        onKeyDown={press}
      />
      <div ref={list} id={id} role="listbox" aria-label={label}>
        {found.map((option, index) => (
          <div
            key={option.id}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            className="item"
            onPointerMove={() => setActive(index)}
            onMouseDown={event => event.preventDefault()}
            onClick={() => onChoose(option)}
            onKeyDown={press}
          >
            {option.row ?? option.label}
          </div>
        ))}
      </div>
      <p role="status" className="hint">
        {found.length === 0 && t.nothingFound}
      </p>
    </div>
  )
}

function matches({ label, keywords = '' }: Option, typed: string): boolean {
  const text = `${label} ${keywords}`.toLowerCase()
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every(word => text.includes(word))
}
