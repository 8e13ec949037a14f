import type { SnapshotNode } from './snapshot.ts'

/** One line of an outline: an element with a name or a use, or a text. */
export interface Line {
  /** Returns the text; most lines are never written. */
  write(): string
  /** Equal for equal texts. */
  key: string
  ref: string | undefined
  /** Number of surrounding elements with lines. */
  depth: number
  /** Upper and lower edge, in CSS pixels from the upper edge of the window. */
  top: number
  bottom: number
}

const fields = new Set(['textbox', 'searchbox', 'combobox', 'spinbutton'])
const usable = new Set([
  ...fields,
  ...'link button checkbox radio switch slider listbox option tab treeitem'.split(' '),
  ...'menuitem menuitemcheckbox menuitemradio iframe'.split(' '),
])
/** Roles whose content follows from their text, so models need no reference to them. */
const plain = new Set([
  'text',
  'paragraph',
  'heading',
  'generic',
  'strong',
  'emphasis',
  'code',
  'time',
  'img',
])

const longest = { text: 1000, name: 200, url: 120 }

interface Place {
  depth: number
  /** Top of the frame. */
  offset: number
  top: number
  bottom: number
}

/** Returns the lines of a page, in its order. Wrappers get none; their children replace them. */
export function linesOf(nodes: readonly SnapshotNode[], mask: (text: string) => string): Line[] {
  const lines: Line[] = []
  const add = (line: Pick<Line, 'write' | 'key'>, { depth, top, bottom }: Place, ref?: string) =>
    lines.push({ ...line, ref, depth, top, bottom })

  /** A text has no box: its place is the end of the element before it. */
  function visitChild(child: SnapshotNode | string, within: Place, before: Place): Place {
    if (typeof child !== 'string') {
      const { bottom } = visit(child, within)
      return { ...within, top: bottom, bottom }
    }
    if (child.trim() !== '') add(textLine(child, mask), before)
    return before
  }

  function visit(node: SnapshotNode, around: Place): Place {
    const here = placeOf(node, around)
    const hasLine = Boolean(node.name || node.text) || usable.has(node.role) || isUsable(node)
    if (hasLine) add(elementLine(node, mask), here, hasRef(node) ? node.ref : undefined)
    const within = {
      ...here,
      depth: here.depth + (hasLine ? 1 : 0),
      offset: node.role === 'iframe' ? here.top : here.offset,
    }
    let before: Place = { ...within, bottom: within.top }
    for (const child of node.children ?? []) before = visitChild(child, within, before)
    return here
  }
  const window = { depth: 0, offset: 0, top: 0, bottom: 0 }
  for (const node of nodes) visit(node, window)
  return lines
}

const isUsable = ({ isUsable: isMarked, cursor }: SnapshotNode) => isMarked === true || cursor === 'pointer'
const hasRef = (node: SnapshotNode) => !plain.has(node.role) || isUsable(node)

function placeOf({ box }: SnapshotNode, around: Place): Place {
  if (box === undefined || box.height === 0) return around
  const top = around.offset + box.y
  return { ...around, top, bottom: top + box.height }
}

function textLine(text: string, mask: (text: string) => string) {
  return { key: text, write: () => `text: ${cut(mask(text), longest.text)}` }
}

function elementLine(node: SnapshotNode, mask: (text: string) => string) {
  const { role, ref, name, text, url, checked, selected, expanded, pressed, disabled } = node
  const states = [checked, selected, expanded, pressed, disabled, isUsable(node)]
  const key = [role, ref, name, text, url, ...states].join('\n')
  return { key, write: () => textOf(node, mask) }
}

function textOf(node: SnapshotNode, mask: (text: string) => string): string {
  const { role, name, text, url } = node
  const states = [
    node.level && `level=${node.level}`,
    node.checked && (node.checked === 'mixed' ? 'partly checked' : 'checked'),
    node.selected && 'selected',
    node.expanded && 'expanded',
    node.pressed && 'pressed',
    node.disabled && 'disabled',
  ]
  return [
    role === 'generic' ? (isUsable(node) ? 'clickable' : 'text') : role,
    name && ` ${JSON.stringify(cut(mask(name), longest.name))}`,
    ...states.map(state => state && ` [${state}]`),
    node.ref !== undefined && hasRef(node) && ` [ref=${node.ref}]`,
    text && `: ${cut(mask(text), longest.text)}`,
    url && ` → ${cut(mask(url), longest.url)}`,
  ]
    .filter(Boolean)
    .join('')
}

function cut(text: string, characters: number): string {
  // Besides blanks, no more text is read than can be shown.
  const line = text
    .slice(0, characters * 4)
    .replace(/\s+/g, ' ')
    .trim()
  return line.length <= characters ? line : `${line.slice(0, characters - 1).toWellFormed()}…`
}
