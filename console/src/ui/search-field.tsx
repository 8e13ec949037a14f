import { useEffect, useRef, useState } from 'react'

/** The pause in typing after which a search begins, in milliseconds. */
const pauseMs = 250

interface SearchFieldProps {
  label: string
  value: string
  onSearch(value: string): void
}

/** A field above a list: it searches once the person stops typing. Keep `value` in the address. */
export function SearchField({ label, value, onSearch }: SearchFieldProps) {
  const [typed, setTyped] = useState(value)
  // The address follows what is typed: only another's change of it comes into the field.
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
