/** A run of characters on a page, as pdf.js reports it. */
interface TextItem {
  str: string
  /** Matrix `[a, b, c, d, x, y]` from text to page; y grows upwards, in points. */
  transform: number[]
  /** The line ends after this item. */
  hasEOL: boolean
}

interface Line {
  text: string
  /** Height of the baseline; undefined for an empty line. */
  y: number | undefined
}

/** A step down of more than this many usual steps begins a paragraph. */
const paragraphStep = 1.35

/** Lines as they stand, hyphens included; a blank line between paragraphs and at the end. */
export function pageText(items: TextItem[]): string {
  const lines = linesOf(items)
  const steps = lines.map((line, index) => stepDown(lines[index - 1], line))
  const usual = median(steps.filter(step => step > 0))
  const text = lines
    .map(({ text }, index) => ((steps[index] ?? 0) > usual * paragraphStep ? `\n${text}` : text))
    .join('\n')
    .trim()
  return text === '' ? '' : `${text}\n\n`
}

function linesOf(items: TextItem[]): Line[] {
  const lines: Line[] = []
  let line: Line = { text: '', y: undefined }
  for (const { str, transform, hasEOL } of items) {
    line.text += str
    if (str.trim() !== '') line.y ??= transform[5]
    if (!hasEOL) continue
    lines.push(line)
    line = { text: '', y: undefined }
  }
  return [...lines, line]
}

/** Points from one baseline down to the next; 0 if unknown or upwards, as at the top of the next column. */
function stepDown(above: Line | undefined, below: Line): number {
  if (above?.y === undefined || below.y === undefined) return 0
  return Math.max(0, above.y - below.y)
}

function median(values: number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) / 2)] ?? 0
}
