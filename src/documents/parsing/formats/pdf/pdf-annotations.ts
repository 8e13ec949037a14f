/** An annotation of pdf.js. */
interface Annotation {
  /** Page counted from 0. */
  pageIndex: number
  annotationFlags: number
  /** Place from the left and from below. */
  rect: number[]
  contentsObj?: { str: string }
  /** The author. */
  titleObj?: { str: string }
  /** Text with markup; `str` has none. */
  richText?: { str: string } | null
  /** Lines that its appearance draws. */
  textContent?: string[]
  /** Its layer. */
  oc?: unknown
}

/** Flags of annotations invisible on screens: hidden, and for print alone. */
const unseen = 2 | 32
/** Types whose texts describe them, or are values of the form. */
const withoutRemarks = new Set(['LINK', 'WIDGET', 'PRINTERMARK', 'TRAPNET', 'SCREEN', 'MOVIE', 'SOUND'])

/** Returns the numbers of the types with text of people. */
export function typesWithRemarks(numbers: Readonly<Record<string, number>>): Set<number> {
  return new Set(Object.keys(numbers).flatMap(name => (withoutRemarks.has(name) ? [] : [numbers[name] ?? 0])))
}

/**
 * Returns texts that people typed onto pages, and their remarks, from top to bottom, by page, counted from 1;
 * each is named as an annotation.
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

/** Returns each text once: a note and the window that shows it have the same text. */
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
