import { elementsOf } from '../../html/html-tree.ts'
import { child, settingOf, switchOf, type XmlElement } from './word-xml.ts'

/** A style with all values inherited from its bases. */
export interface WordStyle {
  /** Ids of the style and its bases, the nearest first. */
  ids: readonly string[]
  /** True if it hides text; undefined if it sets neither. */
  isHidden?: boolean | undefined
  numId?: string | undefined
  level?: string | undefined
  /** Level of the heading, from 0. */
  outline?: number | undefined
}

export interface WordStyles {
  /** Returns the style of that name, or else the default one for the kind of text. */
  find(kind: 'paragraph' | 'character' | 'numbering', id: string | undefined): WordStyle
  /** Returns true if text with these properties is hidden in a paragraph of this style. */
  isHidden(properties: XmlElement | undefined, paragraph: WordStyle): boolean
}

/** Max bases of a style; Word has no more than eleven. */
const maxBases = 50

/** Reads styles by ECMA-376, part 1, section 17.7. */
export function readStyles(root: XmlElement | undefined): WordStyles {
  const elements = new Map<string, XmlElement>()
  const defaults = new Map<string, string>()
  for (const style of root ? elementsOf(root) : []) {
    if (style.name !== 'w:style') continue
    const { 'w:styleId': id = '', 'w:type': type = '', 'w:default': isDefault = '0' } = style.attributes
    if (!elements.has(id)) elements.set(id, style)
    if (['1', 'true', 'on'].includes(isDefault)) defaults.set(type, id)
  }
  const text = child(child(child(root, 'w:docDefaults'), 'w:rPrDefault'), 'w:rPr')
  const isHiddenByDefault = switchOf(text, 'w:vanish') ?? false
  const known = new Map<string, WordStyle>()

  function resolve(id: string, below: readonly string[] = []): WordStyle {
    const found = known.get(id)
    const style = elements.get(id)
    if (found !== undefined || below.includes(id) || below.length > maxBases) return found ?? { ids: [] }
    const paragraph = child(style, 'w:pPr')
    const numbers = child(paragraph, 'w:numPr')
    const basedOn = settingOf(style, 'w:basedOn')
    const base = basedOn === undefined ? { ids: [] } : resolve(basedOn, [...below, id])
    const outline = settingOf(paragraph, 'w:outlineLvl')
    const resolved: WordStyle = {
      ids: [id, ...base.ids].slice(0, maxBases),
      isHidden: switchOf(child(style, 'w:rPr'), 'w:vanish') ?? base.isHidden,
      numId: settingOf(numbers, 'w:numId') ?? base.numId,
      level: settingOf(numbers, 'w:ilvl') ?? base.level,
      outline:
        outline === undefined ? (headingOf(id, settingOf(style, 'w:name')) ?? base.outline) : Number(outline),
    }
    known.set(id, resolved)
    return resolved
  }

  const find: WordStyles['find'] = (kind, id = defaults.get(kind)) =>
    id === undefined ? { ids: [] } : resolve(id)
  return {
    find,
    isHidden(properties, paragraph) {
      const own = switchOf(properties, 'w:vanish')
      if (own !== undefined) return own
      const character = find('character', settingOf(properties, 'w:rStyle'))
      // Styles of several kinds switch each other's effect (17.7.3).
      return isHiddenByDefault || (character.isHidden ?? false) !== (paragraph.isHidden ?? false)
    },
  }
}

/** Returns a heading's level by its name, the same in all languages of Word. */
function headingOf(id: string, name = ''): number | undefined {
  const level = /^heading ?([1-9]?)$/i.exec(name) ?? /^Heading([1-9]?)$/.exec(id)
  return level === null ? undefined : Math.max(0, Number(level[1]) - 1)
}
