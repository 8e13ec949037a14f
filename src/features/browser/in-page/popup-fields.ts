/** Readers of fields whose choices browsers show in their own windows, outside of the page's picture. */

interface FieldOption {
  label: string
  disabled: boolean
  parentElement: { localName: string; label?: string; disabled?: boolean } | null
  selected: boolean
}

interface FieldElement {
  localName: string
  type: string
  value: string
  min: string
  max: string
  step: string
  size: number
  options?: ArrayLike<FieldOption>
  selectedIndex: number
  innerText: string
  labels?: ArrayLike<{ innerText: string }>
  ariaLabel: string | null
  shadowRoot: FieldRoot | null
  isConnected: boolean
  matches(selector: string): boolean
  focus(options: { preventScroll: true }): void
  getBoundingClientRect(): Box
  dispatchEvent(event: object): void
}

interface FieldRoot {
  activeElement: FieldElement | null
  elementFromPoint(x: number, y: number): FieldElement | null
}

interface DefaultAction {
  preventDefault(): void
}

declare const document: FieldRoot
declare const Event: new (name: string, options: object) => object
declare function getComputedStyle(element: FieldElement): { appearance: string; fontSize: string }
declare function addEventListener(
  name: string,
  listener: (event: DefaultAction) => void,
  options: object,
): void
declare function removeEventListener(name: string, listener: object, options: object): void

/** CSS pixels of the window. */
export interface Box {
  x: number
  y: number
  width: number
  height: number
}

export interface PopupField {
  /** `frame` for a field that has its own document, else `list`, or the type of an input. */
  kind: string
  box: Box
}

export interface PopupChoices {
  label: string
  value: string
  limits: { min: string; max: string; step: string }
  /** Options of a list; those over the limit are counted in `omitted`. */
  options: { label: string; disabled: boolean; group: string; selected: boolean }[]
  omitted: number
  /** Height of an option in Chromium, in CSS pixels. */
  rowHeight: number
}

declare const popupField: FieldElement | undefined

export const popupFields = {
  /**
   * Returns the field at the point, or else the focused field; null for any other element. Prevents the
   * browser's own window for the next press or key.
   */
  popupField(_root: unknown, point: { x: number; y: number } | null): PopupField | null {
    const find = (root: FieldRoot) => (point ? root.elementFromPoint(point.x, point.y) : root.activeElement)
    let element = find(document)
    for (let root = element?.shadowRoot; root; root = element?.shadowRoot) {
      const inner = find(root)
      if (inner === null || inner === element) break
      element = inner
    }
    if (element === null) return null
    const field = element
    const { x, y, width, height } = field.getBoundingClientRect()
    const box = { x, y, width, height }
    if (/^i?frame$/.test(field.localName)) return { kind: 'frame', box }
    const inputs = ['date', 'time', 'datetime-local', 'month', 'week', 'color'].map(
      type => `input[type=${type}]`,
    )
    const isMeant = field.matches(`:is(select:not([multiple]), ${inputs}):enabled:not([readonly])`)
    // Other lists are drawn within the page.
    const isDrawn = field.size > 1 || getComputedStyle(field).appearance === 'base-select'
    const isList = field.localName === 'select'
    if (!isMeant || (isList && isDrawn)) return null
    const stop = (event: DefaultAction) => {
      event.preventDefault()
      field.focus({ preventScroll: true })
    }
    const once = { capture: true, once: true }
    const name = isList ? 'mousedown' : 'click'
    addEventListener(point ? name : 'keydown', stop, once)
    setTimeout(() => removeEventListener(point ? name : 'keydown', stop, once), 1000)
    Object.assign(globalThis, { popupField: field })
    return { kind: isList ? 'list' : field.type, box }
  },

  /** Returns the choices of the last found field. */
  popupChoices(_root: unknown, most: { options: number; characters: number }): PopupChoices | null {
    const field = popupField
    if (field === undefined) return null
    const cut = (text = '') => text.trim().slice(0, most.characters).toWellFormed()
    const all = Array.from(field.options ?? [])
    const options = all.slice(0, most.options).map(({ label, disabled, selected, parentElement: parent }) => {
      const group = parent?.localName === 'optgroup' ? parent : undefined
      const isDisabled = disabled || group?.disabled === true
      return { label: cut(label), disabled: isDisabled, group: cut(group?.label), selected }
    })
    return {
      // The text of a label around a list contains the options.
      label: cut(field.ariaLabel ?? field.labels?.[0]?.innerText.replace(field.innerText, '').trim()),
      value: all.length > 0 ? '' : cut(field.value),
      limits: { min: cut(field.min), max: cut(field.max), step: cut(field.step) },
      options,
      omitted: all.length - options.length,
      rowHeight: Number.parseFloat(getComputedStyle(field).fontSize) * 1.15,
    }
  },

  /** Chooses in the last read field, like a person; returns true if the field has accepted the choice. */
  choose(
    _root: unknown,
    { option, value }: { option: number | undefined; value: string | undefined },
  ): boolean {
    const field = popupField
    if (!field?.isConnected) return false
    const before = option === undefined ? field.value : String(field.selectedIndex)
    if (option !== undefined) field.selectedIndex = option
    else field.value = value ?? ''
    const now = option === undefined ? field.value : String(field.selectedIndex)
    if (now !== before)
      for (const name of ['input', 'change'])
        field.dispatchEvent(new Event(name, { bubbles: true, composed: name === 'input' }))
    return now === String(option ?? value)
  },
}
