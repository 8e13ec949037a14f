import type { Tab } from '../sessions/browser-session.ts'
import type { Picker, Takeover } from '../sessions/takeover.ts'
import type { InputOf } from './input.schema.ts'
import { modifierOf } from './keyboard.ts'

/** Takeovers whose driver has pressed the mouse in the list; the page does not get the release either. */
const pressed = new WeakSet<Takeover>()

type Open = (point: { x: number; y: number } | undefined) => void

/**
 * Passes input to an open picker; another press closes it. Returns true if the page must not get the input.
 * @param open called if a field might be about to show its choices
 */
export function inputToPicker(
  takeover: Takeover,
  { pageId }: Tab,
  input: InputOf<'mouseEvent'> | InputOf<'keyEvent'>,
  open: Open,
): boolean {
  const picker = takeover.picker?.shown.pageId === pageId ? takeover.picker : undefined
  if (input.type === 'keyEvent')
    return input.event === 'keyDown' && keyToPicker(takeover, picker, input, open)
  if (input.event === 'mouseReleased') return pressed.delete(takeover)
  if (input.event !== 'mousePressed') return false
  const row = picker?.rowAt(input)
  if (row === undefined) {
    takeover.offer(undefined)
    if (input.button === undefined || input.button === 'left') open({ x: input.x, y: input.y })
    return false
  }
  pressed.add(takeover)
  if (row.option !== undefined) pick(takeover, row)
  return true
}

function keyToPicker(
  takeover: Takeover,
  picker: Picker | undefined,
  { key, modifiers = 0 }: InputOf<'keyEvent'>,
  open: Open,
): boolean {
  const isWithAlt = (modifiers & modifierOf('Alt')) !== 0
  if (key === ' ' || key === 'F4' || (isWithAlt && /^Arrow(?:Up|Down)$/.test(key))) open(undefined)
  if (key !== 'Escape' || picker === undefined) return false
  takeover.offer(undefined)
  return true
}

/** Makes the choice, if there is one, and closes the picker. */
export function pick(
  takeover: Takeover,
  choice: { option?: number | undefined; value?: string | undefined },
): void {
  const { picker } = takeover
  takeover.offer(undefined)
  void picker?.choose(choice).catch(() => {})
}
