import { useEffect, useState } from 'react'

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
  useEffect(() => setTyped(value), [value])
  useEffect(() => {
    if (typed === value) return
    const timer = setTimeout(() => onSearch(typed), pauseMs)
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
