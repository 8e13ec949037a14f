import type { ReactNode } from 'react'
import { useEffect, useId, useRef, useState } from 'react'
import { frameText } from '#console/i18n/frame-text.ts'
import { useText } from '#console/i18n/text.ts'

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

  function press(key: string): boolean {
    const option = found[at]
    if (key === 'ArrowDown') move(at + 1)
    else if (key === 'ArrowUp') move(at - 1)
    else if (key === 'Enter' && option) onChoose(option)
    else return false
    return true
  }

  return (
    <div className="combobox">
      <input
        className="input"
        role="combobox"
        aria-label={label}
        aria-expanded="true"
        aria-autocomplete="list"
        aria-controls={id}
        aria-activedescendant={found[at] && `${id}-${at}`}
        autoComplete="off"
        placeholder={placeholder}
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value)
          setActive(0)
          onType?.(target.value)
        }}
        onKeyDown={event => {
          if (press(event.key)) event.preventDefault()
        }}
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
            onKeyDown={({ key }) => press(key)}
          >
            {option.row ?? option.label}
          </div>
        ))}
      </div>
      {found.length === 0 && <p className="hint">{t.nothingFound}</p>}
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
