/** Characters of one tool result that are kept, shown and stored. */
export const keptCharacters = 64_000
/** Characters of one tool result that the model sees. */
export const seenCharacters = 16_000
/** Characters of `resultPreview`. */
export const previewCharacters = 200

const dataUrl = /^data:([\w.+-]+\/[\w.+-]+)?[^,]{0,100},/

/** Leaves a small result as it is; a larger one becomes its text, cut in the middle. Embedded files are named, not quoted. */
export function truncateResult(result: unknown, characters: number): unknown {
  const light = withoutFiles(result)
  const text = textOf(light)
  return text.length <= characters ? light : cutMiddle(text, characters)
}

export function previewOf(result: unknown): string {
  const text = textOf(result)
  return text.length <= previewCharacters ? text : `${cutEnd(text, previewCharacters - 1)}…`
}

export function textOf(result: unknown): string {
  return typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null')
}

/** Keeps the beginning and the end, and says how much was left out between them; never splits a surrogate pair. */
export function cutMiddle(text: string, characters: number): string {
  if (text.length <= characters) return text
  const note = `\n[… ${text.length - characters} characters left out …]\n`
  const room = Math.max(0, characters - note.length)
  const head = cutEnd(text, Math.ceil(room * 0.7))
  const tail = text.slice(text.length - Math.floor(room * 0.3))
  return `${head}${note}${isLowSurrogate(tail) ? tail.slice(1) : tail}`.slice(0, characters)
}

function cutEnd(text: string, characters: number): string {
  const cut = text.slice(0, characters)
  const last = cut.charCodeAt(cut.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? cut.slice(0, -1) : cut
}

function isLowSurrogate(text: string): boolean {
  const first = text.charCodeAt(0)
  return first >= 0xdc00 && first <= 0xdfff
}

function withoutFiles(value: unknown): unknown {
  if (typeof value === 'string') {
    const type = value.length > 2000 ? dataUrl.exec(value) : null
    return type === null ? value : `[${type[1] ?? 'file'} of ${value.length} characters left out]`
  }
  if (Array.isArray(value)) return value.map(withoutFiles)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutFiles(inner)]))
}
