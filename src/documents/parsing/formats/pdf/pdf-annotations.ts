/** An annotation as pdf.js reports it. */
interface Annotation {
  /** Counted from 0. */
  pageIndex: number
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
const withoutRemarks = new Set(['LINK', 'WIDGET', 'PRINTERMARK', 'TRAPNET', 'SCREEN', 'MOVIE', 'SOUND'])

/** The numbers of the types that hold what people have written. */
export function typesWithRemarks(numbers: Readonly<Record<string, number>>): Set<number> {
  return new Set(Object.keys(numbers).flatMap(name => (withoutRemarks.has(name) ? [] : [numbers[name] ?? 0])))
}

/**
 * What people have typed onto pages, and their remarks on them, from top to bottom, by page, counted from 1; each is named as
 * an annotation.
 */
export function annotationTexts(
  annotations: readonly object[],
  isShown: (layer: unknown) => boolean,
): Map<number, string> {
  const seen = (annotations as readonly Annotation[]).filter(
    ({ annotationFlags, oc }) => (annotationFlags & unseen) === 0 && (oc === undefined || isShown(oc)),
  )
  const pages = Map.groupBy(seen, ({ pageIndex }) => pageIndex + 1)
  return new Map(Iterator.from(pages).map(([page, those]) => [page, textOf(those)]))
}

/** A note and the window that shows it have the same text. */
function textOf(annotations: readonly Annotation[]): string {
  const fromTop = annotations.toSorted((one, other) => (other.rect[3] ?? 0) - (one.rect[3] ?? 0))
  const texts = new Set(fromTop.map(lineOf).filter(line => line !== undefined))
  return [...texts].map(text => `${text}\n\n`).join('')
}

function lineOf({ contentsObj, richText, textContent = [], titleObj }: Annotation): string | undefined {
  const text = [contentsObj?.str, richText?.str, textContent.join('\n')].find(one => one && /\S/.test(one))
  if (text === undefined) return undefined
  const author = titleObj?.str.trim()
  return `${author ? `Annotation by ${author}` : 'Annotation'}: ${text.replace(/\r\n?/g, '\n').trim()}`
}
