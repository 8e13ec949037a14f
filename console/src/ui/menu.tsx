import { type KeyboardEvent, useId, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { Button, type ButtonProps } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'
import { keyOf } from './keys.ts'

export interface MenuItem {
  label: string
  icon?: IconName
  isDangerous?: boolean
  /** The state of an item that is one of several choices, or on or off. */
  isChecked?: boolean
  run(): void
}

interface MenuProps {
  /** The button that opens the menu; needs a `label` if it shows only an icon. */
  button: Omit<ButtonProps, 'onClick' | 'popoverTarget' | 'id'>
  items: readonly (MenuItem | undefined | false)[]
}

/** A button that opens a menu: arrows, Home, End and the beginning of a name move in it, Escape closes it. */
export function Menu({ button, items }: MenuProps) {
  const id = useId()
  const popup = useRef<HTMLDivElement>(null)
  const opener = useRef<HTMLButtonElement>(null)
  const [isOpen, setOpen] = useState(false)
  const shown = isOpen ? items.filter(item => item !== undefined && item !== false) : []
  return (
    <>
      <Button {...button} ref={opener} popoverTarget={id} aria-haspopup="menu" />
      <div
        ref={popup}
        id={id}
        popover="auto"
        role="menu"
        tabIndex={-1}
        aria-label={button.label}
        className="popup"
        onKeyDown={moveByKeys}
        // Lists have many menus, so the items of one exist only while it is open.
        onBeforeToggle={({ newState }) => flushSync(() => setOpen(newState === 'open'))}
        onToggle={({ newState }) => {
          opener.current?.setAttribute('aria-expanded', String(newState === 'open'))
          if (newState !== 'open' || popup.current === null) return
          placeBeside(popup.current, opener.current)
          typed.letters = ''
          itemsOf(popup.current)[0]?.focus()
        }}
      >
        {shown.map(({ label, icon, isDangerous, isChecked, run }) => (
          <button
            key={label}
            type="button"
            {...(isChecked === undefined
              ? menuItem
              : { role: 'menuitemcheckbox', 'aria-checked': isChecked })}
            tabIndex={-1}
            className={`item${isDangerous ? ' danger' : ''}`}
            onClick={() => {
              popup.current?.hidePopover()
              run()
            }}
          >
            {isChecked !== undefined && <span className="tick">{isChecked && <Icon name="check" />}</span>}
            {icon && <Icon name={icon} />}
            {label}
          </button>
        ))}
      </div>
    </>
  )
}

const menuItem = { role: 'menuitem' }
const itemsOf = (menu: HTMLElement) => [...menu.querySelectorAll<HTMLElement>('[role^="menuitem"]')]

/** Moves the focus in a menu, by the ARIA pattern. */
function moveByKeys(event: KeyboardEvent<HTMLElement>): void {
  const key = keyOf(event.nativeEvent)
  const items = itemsOf(event.currentTarget)
  const at = items.indexOf(document.activeElement as HTMLElement)
  const target = targetOf(key, at, items)
  if (key === 'Tab' || key === 'Shift+Tab') event.currentTarget.hidePopover()
  if (target === undefined) return
  event.preventDefault()
  target.focus()
}

function targetOf(key: string, at: number, items: readonly HTMLElement[]): HTMLElement | undefined {
  if (key === 'ArrowDown') return items[(at + 1) % items.length]
  if (key === 'ArrowUp') return items.at(at - 1)
  if (key === 'Home') return items[0]
  if (key === 'End') return items.at(-1)
  return key.length === 1 ? findByName(key.toLowerCase(), at, items) : undefined
}

/** Max time between the letters of a name (ms). */
const nextLetterMs = 700
let typed = { letters: '', at: 0 }

/** Returns the next item whose name begins with the typed letters. One letter again and again goes through its items. */
function findByName(letter: string, at: number, items: readonly HTMLElement[]): HTMLElement | undefined {
  const now = performance.now()
  const letters = now - typed.at > nextLetterMs ? letter : typed.letters + letter
  // Space alone chooses the item; within a name it is a letter.
  if (letters === ' ') return undefined
  typed = { letters, at: now }
  const isRepeated = letters === letter.repeat(letters.length)
  const first = isRepeated ? at + 1 : at
  const wanted = isRepeated ? letter : letters
  const others = [...items.slice(first), ...items.slice(0, first)]
  return others.find(item => item.textContent?.trim().toLowerCase().startsWith(wanted))
}

/** In browsers without CSS anchors, moves the popup below the button, within the window. */
function placeBeside(popup: HTMLElement, opener: HTMLElement | null): void {
  if (opener === null || CSS.supports('position-area: block-end')) return
  const { left, bottom, top } = opener.getBoundingClientRect()
  const { width, height } = popup.getBoundingClientRect()
  const isAbove = bottom + height > innerHeight && top > height
  popup.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`
  popup.style.top = `${isAbove ? top - height : bottom}px`
}
