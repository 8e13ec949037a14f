/** Min length of a secret: shorter values are in too many texts by chance. */
const minLength = 6
/** Max characters that are searched for: `indexOf` can compare all of them at each place of a text. */
const maxSearched = 64
const mask = '********'

/**
 * Removes secrets from texts, unchanged and in the forms in which services repeat them: a token without its
 * scheme, percent-encoded, as a part of JSON, encoded in base64 or decoded from it.
 */
export function createSecretFilter(secrets: readonly string[]): (text: string) => string {
  const forms = [...new Set(secrets.flatMap(partsOf).flatMap(writtenForms))].filter(
    form => form.length >= minLength,
  )
  return text => {
    let hidden = ''
    let shown = 0
    for (const { start, end } of joined(forms.flatMap(form => placesOf(form, text)))) {
      hidden += text.slice(shown, start) + mask
      shown = end
    }
    return hidden + text.slice(shown)
  }
}

/** A place in a text, from its first code unit to the one after its last. */
interface Place {
  start: number
  end: number
}

/** Returns the places of a form's searched part in a text, each with as much of the rest as follows. */
function placesOf(form: string, text: string): Place[] {
  const searched = form.slice(0, maxSearched)
  const places: Place[] = []
  let from = 0
  for (let start = text.indexOf(searched); start >= 0; start = text.indexOf(searched, from)) {
    let end = start + searched.length
    while (end - start < form.length && text.charCodeAt(end) === form.charCodeAt(end - start)) end += 1
    places.push({ start, end })
    // If only a beginning is found, the whole can begin within it.
    from = end - start === form.length ? end : end - searched.length + 1
  }
  return places
}

/** Returns the places in order, with overlapping ones as one. */
function joined(places: Place[]): Place[] {
  const whole: Place[] = []
  for (const { start, end } of places.sort((a, b) => a.start - b.start)) {
    const last = whole.at(-1)
    if (last === undefined || last.end <= start) whole.push({ start, end })
    else last.end = Math.max(last.end, end)
  }
  return whole
}

/** Returns the value of a header, the part after its scheme or name, and user and password of `Basic`. */
function partsOf(secret: string): string[] {
  const whole = secret.trim()
  const words = whole.split(/[\s,;]+/)
  const parts = [whole, ...(words.length === 2 ? words.slice(1) : []), ...words.map(afterName)]
  const [, encoded] = /^basic\s+(\S+)$/i.exec(whole) ?? []
  if (encoded === undefined) return parts
  const pair = Buffer.from(encoded, 'base64').toString('utf8')
  return [...parts, pair, pair.slice(pair.indexOf(':') + 1)]
}

/** Returns the value in `session=…`. */
function afterName(part: string): string {
  return part.slice(part.indexOf('=') + 1 || part.length)
}

function writtenForms(part: string): string[] {
  const base64 = Buffer.from(part, 'utf8').toString('base64').replace(/=+$/, '')
  const json = JSON.stringify(part).slice(1, -1)
  const percent = encodeURIComponent(part)
  return [
    part,
    json,
    json.replaceAll('/', '\\/'),
    percent,
    percent.replace(/%[\dA-F]{2}/g, code => code.toLowerCase()),
    percent.replaceAll('%20', '+'),
    base64,
    base64.replaceAll('+', '-').replaceAll('/', '_'),
  ]
}
