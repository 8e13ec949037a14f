import { textOf } from '../../html/html-tree.ts'
import { all, child, drawnLines, type XmlElement } from './word-xml.ts'

/** Returns the words and values of a chart: its titles and labels, and a line for each series. */
export function chartLines(root: XmlElement): string[] {
  const titles = all(root, 'c:title').flatMap(title => [...points(title).values()])
  const newer = [...all(root, 'cx:pt'), ...all(root, 'cx:v')].map(textOf)
  const lines = [...drawnLines(root), ...titles, ...all(root, 'c:ser').map(seriesLine), ...newer]
  return lines.filter(line => line.trim() !== '')
}

function seriesLine(series: XmlElement): string {
  const label = all(child(series, 'c:tx'), 'c:v').map(textOf).join(' ')
  const categories = points(child(series, 'c:cat') ?? child(series, 'c:xVal'))
  const values = points(child(series, 'c:val') ?? child(series, 'c:yVal'))
  const sizes = points(child(series, 'c:bubbleSize'))
  const keys = [...new Set([...categories.keys(), ...values.keys()])]
  const pairs = keys.map(key =>
    [categories.get(key), values.get(key), sizes.get(key)].filter(Boolean).join(' '),
  )
  return [label, pairs.join('; ')].filter(Boolean).join(': ')
}

/** Returns texts by position; of categories in several levels, the outer ones come first. */
function points(parent: XmlElement | undefined): Map<number, string> {
  const levels = all(parent, 'c:lvl')
  const isDate = all(parent, 'c:formatCode').some(code => dateFormat.test(textOf(code)))
  const [inner = new Map(), ...outer] = (levels.length > 0 ? levels : [parent]).map(level => {
    const texts = all(level, 'c:pt').map((point): [number, string] => {
      const text = all(point, 'c:v').map(textOf).join('')
      return [Number(point.attributes.idx), isDate ? dateOf(text) : text]
    })
    return new Map(texts)
  })
  const last = outer.map(() => '')
  return new Map(
    [...inner].map(([key, text]) => {
      for (const [at, texts] of outer.entries()) last[at] = texts.get(key) ?? last[at] ?? ''
      return [key, [...last.toReversed(), text].filter(Boolean).join(' ')]
    }),
  )
}

const dateFormat = /^(?:[^"[]|"[^"]*"|\[[^\]]*\])*?[yd]/i
const firstDay = Date.UTC(1899, 11, 30)

/** Returns the date of a number of days, which charts use. */
function dateOf(days: string): string {
  const date = new Date(firstDay + Number(days) * 86_400_000)
  return Number.isNaN(date.getTime()) ? days : date.toISOString().slice(0, 10)
}
