/** Virtual key codes of keys that write nothing; pages ignore such keys without a code. */
const virtualKeys: Readonly<Record<string, number>> = {
  Backspace: 8,
  Tab: 9,
  Enter: 13,
  Shift: 16,
  Control: 17,
  Alt: 18,
  Pause: 19,
  CapsLock: 20,
  Escape: 27,
  ' ': 32,
  PageUp: 33,
  PageDown: 34,
  End: 35,
  Home: 36,
  ArrowLeft: 37,
  ArrowUp: 38,
  ArrowRight: 39,
  ArrowDown: 40,
  Insert: 45,
  Delete: 46,
  Meta: 91,
  ContextMenu: 93,
}

/** The bits of `modifiers` in the DevTools protocol. */
const modifier = { alt: 1, control: 2, meta: 4, shift: 8 } as const

/** Returns the bit of a modifier key; 0 for all others. */
export function modifierOf(key: string): number {
  const bits: Readonly<Record<string, number>> = {
    Alt: modifier.alt,
    Control: modifier.control,
    Meta: modifier.meta,
    Shift: modifier.shift,
  }
  return bits[key] ?? 0
}

interface Key {
  key: string
  code?: string
  modifiers?: number
  text?: string
  keyCode?: number
}

/** Returns the Windows key code that the browser uses; 0 for a key that only writes. */
export function virtualKeyOf({ key, code = '', keyCode }: Key): number {
  if (keyCode !== undefined && keyCode > 0) return keyCode
  const ofFunction = /^F([1-9]|1\d|2[0-4])$/.exec(key)?.[1]
  if (ofFunction !== undefined) return 111 + Number(ofFunction)
  const ofCode = /^(?:Key([A-Z])|Digit(\d))$/.exec(code)
  const letter = ofCode?.[1] ?? ofCode?.[2] ?? (/^[a-z0-9]$/i.test(key) ? key.toUpperCase() : undefined)
  return virtualKeys[key] ?? letter?.charCodeAt(0) ?? 0
}

/**
 * Returns the modifiers without those that select the third character on a key (AltGr, or both Control and
 * Alt, or Option), like in `@` or `€`: browsers treat Control with a key as a shortcut.
 */
export function shortcutModifiers({ key, code = '', modifiers = 0 }: Key): number {
  const plain = /^(?:Key|Digit)(.)$/.exec(code)?.[1] ?? (/^[a-z\d]$/i.test(key) ? key : undefined)
  const isThird = [...key].length === 1 && key !== ' ' && key.toUpperCase() !== plain?.toUpperCase()
  return isThird && (modifiers & modifier.alt) !== 0
    ? modifiers & ~(modifier.alt | modifier.control)
    : modifiers
}

/** Returns the text that the key writes; undefined for keys that write nothing, and for shortcuts. */
export function textOf({ key, modifiers = 0, text }: Key): string | undefined {
  const hasControl = (modifiers & modifier.control) !== 0
  // Both together are AltGr, which writes characters.
  const isAltGr = hasControl && (modifiers & modifier.alt) !== 0
  if ((hasControl && !isAltGr) || (modifiers & modifier.meta) !== 0) return undefined
  if (key === 'Enter') return '\r'
  if (text !== undefined && text !== '') return text
  return [...key].length === 1 ? key : undefined
}
