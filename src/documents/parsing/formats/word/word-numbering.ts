/** Numbers paragraphs like Word: ECMA-376, part 1, section 17.9. */
import { numberAs } from './number-formats.ts'
import type { WordStyle, WordStyles } from './word-styles.ts'
import { all, child, settingOf, switchOf, type XmlElement } from './word-xml.ts'

interface Level {
  start: number
  /** `bullet` for a list without numbers. */
  format: string
  /** Pattern of a custom format, such as `001, 002, 003`. */
  pattern: string
  /** Text with `%1` for the number of the first level. */
  text: string
  /** Number of first levels after any of which it begins again. */
  restart: number
  isLegal: boolean
  isHidden: boolean
  suffix: string
  style: string | undefined
}

interface List {
  /** Id by which all lists of the same definition count together. */
  id: string
  levels: Map<number, Level>
  /** The beginning of each level when this list first has it. */
  starts: Map<number, number>
}

/** The label before a paragraph: its number with a separator, or the depth of its bullet from 0. */
export interface Label {
  text?: string
  bullet?: number
}

/** Counts the numbered paragraphs of one text, in reading order. */
export type Count = (properties: XmlElement | undefined, style: WordStyle) => Label

export function readNumbering(
  root: XmlElement | undefined,
  styles: WordStyles,
  warn: (text: string) => void,
): () => Count {
  const findList = createLists(root, styles)
  return () => {
    const counts = new Map<string, Map<number, number>>()
    const begun = new Set<string>()

    /** Counts one more of this level; returns the values of all levels. */
    function countAt(numId: string, { id, levels, starts }: List, at: number): Map<number, number> {
      const values = counts.get(id) ?? new Map<number, number>()
      counts.set(id, values)
      const start = begun.has(`${numId} ${at}`) ? undefined : starts.get(at)
      begun.add(`${numId} ${at}`)
      const last = values.get(at)
      values.set(at, start ?? (last === undefined ? (levels.get(at)?.start ?? 0) : last + 1))
      for (const [below, { restart }] of levels) if (below > at && at < restart) values.delete(below)
      return values
    }

    return (properties, style) => {
      const numbers = child(properties, 'w:numPr')
      const numId = settingOf(numbers, 'w:numId') ?? style.numId ?? '0'
      const list = numId === '0' ? undefined : findList(numId)
      const at = list === undefined ? 0 : levelOf(list, settingOf(numbers, 'w:ilvl'), style)
      const level = list?.levels.get(at)
      if (list === undefined || level === undefined) return {}
      const values = countAt(numId, list, at)
      if (level.format === 'bullet') return { bullet: bulletsAbove(list, at) }
      const text = level.text.replace(/%([1-9])/g, (_, digit) => {
        const { start, format, pattern } = list.levels.get(digit - 1) ?? level
        const isDecimal = level.isLegal && format !== 'none'
        return numberAs(values.get(digit - 1) ?? start, isDecimal ? 'decimal' : format, pattern, warn)
      })
      return level.isHidden || text.trim() === '' ? {} : { text: text + level.suffix }
    }
  }
}

function createLists(root: XmlElement | undefined, styles: WordStyles) {
  const definitions = byId(root, 'w:abstractNum', 'w:abstractNumId')
  const instances = byId(root, 'w:num', 'w:numId')
  const known = new Map<string, List | undefined>()
  return function find(numId: string): List | undefined {
    if (known.has(numId)) return known.get(numId)
    // Lists can refer to each other in a circle.
    known.set(numId, undefined)
    const instance = instances.get(numId)
    const id = settingOf(instance, 'w:abstractNumId') ?? ''
    const definition = definitions.get(id)
    if (definition === undefined) return undefined
    const link = settingOf(definition, 'w:numStyleLink')
    const linked = link === undefined ? undefined : find(styles.find('numbering', link).numId ?? '')
    const levels = new Map(linked?.levels ?? levelsIn(definition))
    const starts = new Map<number, number>()
    for (const change of all(instance, 'w:lvlOverride')) {
      for (const [at, changed] of levelsIn(change)) levels.set(at, changed)
      const start = settingOf(change, 'w:startOverride')
      if (start !== undefined) starts.set(Number(change.attributes['w:ilvl']), Number(start))
    }
    const list = { id: linked?.id ?? id, levels, starts }
    known.set(numId, list)
    return list
  }
}

function byId(root: XmlElement | undefined, name: string, key: string): Map<string, XmlElement> {
  return new Map(all(root, name).map(found => [found.attributes[key] ?? '', found]))
}

function levelOf({ levels }: List, direct: string | undefined, style: WordStyle): number {
  if (direct !== undefined) return Number(direct)
  // A style of a deeper level can be based on that of the one above.
  const linked = style.ids.flatMap(id => [...levels].filter(([, level]) => level.style === id))
  return linked[0]?.[0] ?? Number(style.level ?? 0)
}

function bulletsAbove({ levels }: List, at: number): number {
  return [...levels].filter(([above, { format }]) => above < at && format === 'bullet').length
}

function levelsIn(parent: XmlElement): [number, Level][] {
  return all(parent, 'w:lvl').map(level => [Number(level.attributes['w:ilvl']), readLevel(level)])
}

function readLevel(level: XmlElement): Level {
  // A custom format is in an alternative, before the nearest common one.
  const format = all(level, 'w:numFmt')[0]?.attributes
  const suffix = settingOf(level, 'w:suff')
  return {
    start: Number(settingOf(level, 'w:start') ?? 0),
    format: format?.['w:val'] ?? 'decimal',
    pattern: format?.['w:format'] ?? '',
    text: settingOf(level, 'w:lvlText') ?? '',
    restart: Number(settingOf(level, 'w:lvlRestart') ?? level.attributes['w:ilvl']),
    isLegal: switchOf(level, 'w:isLgl') ?? false,
    isHidden: switchOf(child(level, 'w:rPr'), 'w:vanish') ?? false,
    suffix: suffix === 'nothing' ? '' : ' ',
    style: settingOf(level, 'w:pStyle'),
  }
}
