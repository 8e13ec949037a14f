import { useEffect, useRef, useState } from 'react'

/** Pause in typing after which a search begins (ms). */
const pauseMs = 250

interface SearchFieldProps {
  label: string
  value: string
  onSearch(value: string): void
}

/** A field above a list that searches after a pause in typing. Keep `value` in the address. */
export function SearchField({ label, value, onSearch }: SearchFieldProps) {
  const [typed, setTyped] = useState(value)
  // The address follows the typed text: only other changes of the address reach the field.
  const searched = useRef(value)
  useEffect(() => {
    if (value !== searched.current) setTyped(value)
    searched.current = value
  }, [value])
  useEffect(() => {
    if (typed === value) return
    const timer = setTimeout(() => {
      searched.current = typed
      onSearch(typed)
    }, pauseMs)
    return () => clearTimeout(timer)
  }, [typed, value, onSearch])
  return (
    <input
      type="search"
      className="input search-field"
      aria-label={label}
      placeholder={label}
      value={typed}
      onChange={({ target }) => setTyped(target.value)}
    />
  )
}
