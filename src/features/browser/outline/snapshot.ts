/** An element of Playwright's snapshot for models, with its box. */
export interface SnapshotNode {
  role: string
  name?: string
  /** Its text, or the value of a field. */
  text?: string
  ref?: string
  url?: string
  /** CSS pixels from the corner of the viewport of its own frame. */
  box?: Box
  children?: readonly (SnapshotNode | string)[]
  level?: number
  checked?: boolean | 'mixed'
  selected?: boolean
  expanded?: boolean
  pressed?: boolean | 'mixed'
  disabled?: boolean
  cursor?: 'pointer'
  /** True if the element can be used although its role does not show it. */
  isUsable?: boolean
}

export interface Box {
  x: number
  y: number
  width: number
  height: number
}
