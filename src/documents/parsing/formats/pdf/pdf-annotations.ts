/** An annotation as pdf.js reports it. */
interface Annotation {
  subtype: string
  annotationFlags: number
  /** From the left and from below. */
  rect: number[]
  contentsObj?: { str: string }
  /** Who wrote it. */
  titleObj?: { str: string }
  /** With markup, of which `str` is the text alone. */
  richText?: { str: string } | null
  /** Lines that its appearance draws. */
  textContent?: string[]
  /** Its layer. */
  oc?: unknown
}

/** Not seen on screens: hidden, and for print alone. */
const unseen = 2 | 32
/** Their texts describe them, or are values of the form. */
const withoutRemarks = new Set(['Link', 'Widget', 'PrinterMark', 'TrapNet', 'Screen', 'Movie', 'Sound'])

/** What people have typed onto a page, and their remarks on it, from top to bottom; a line that names it before each. */
export function annotationText(annotations: readonly object[], isShown: (layer: unknown) => boolean): string {
  const seen = (annotations as readonly Annotation[]).filter(
    ({ subtype, annotationFlags, oc }) =>
      (annotationFlags & unseen) === 0 && !withoutRemarks.has(subtype) && (oc === undefined || isShown(oc)),
  )
  const fromTop = seen.toSorted((one, other) => (other.rect[3] ?? 0) - (one.rect[3] ?? 0))
  // A note and the window that shows it have the same text.
  const texts = new Set(fromTop.map(lineOf).filter(line => line !== undefined))
  return [...texts].map(text => `${text}\n\n`).join('')
}

function lineOf({ contentsObj, richText, textContent = [], titleObj }: Annotation): string | undefined {
  const text = [contentsObj?.str, richText?.str, textContent.join('\n')].find(one => one && /\S/.test(one))
  if (text === undefined) return undefined
  const author = titleObj?.str.trim()
  return `${author ? `Annotation by ${author}` : 'Annotation'}: ${text.replace(/\r\n?/g, '\n').trim()}`
}
