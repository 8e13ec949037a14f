import { domainToUnicode } from 'node:url'

/** Max length of an address; a longer one is never found. */
const maxLength = 4000
/** Max mentions of a host that are compared in one text, because a page can repeat it endlessly. */
const maxMentions = 1000

/** Letters of scripts that put spaces between words; lines of results can begin behind an escape of JSON. */
const lettersWithSpaces = '\\p{Script=Latin}\\p{Script=Cyrillic}\\p{Script=Greek}'
const schemes = { 'http:': '80', 'https:': '443' } as const

/** True if the text contains the address as a whole: neither as the beginning of a longer one nor as a part of it. */
export function isWritten(address: URL, text: string): boolean {
  const { protocol, hostname, port, username, password, href, origin } = address
  if (href.length > maxLength || username !== '' || password !== '') return false
  const usual = schemes[protocol as keyof typeof schemes]
  const path = href.slice(origin.length)
  const wanted = canonical(path)
  // Each other spelling of a known address could carry data: a bit with each letter.
  if (URL.parse(origin + wanted)?.href !== href && !text.includes(path)) return false
  const hosts = new Set([hostname, domainToUnicode(hostname)].filter(Boolean).map(escaped))
  const mentions = new RegExp(
    `(https?://|(?<=\\\\[nrt])|(?<![${lettersWithSpaces}\\p{N}_.@/%-]))(?:${[...hosts].join('|')})(?::(\\d+))?`,
    'giu',
  )
  let left = maxMentions
  for (const { 0: mention, 1: scheme = '', 2: given, index } of text.matchAll(mentions)) {
    left -= 1
    if (left < 0) return false
    const isSame = scheme === '' || scheme.toLowerCase() === `${protocol}//`
    const isSamePort = (given ?? usual) === (port || usual)
    const start = index + mention.length
    // Percent-encoding makes an address up to three times longer, an entity up to five times.
    if (isSame && isSamePort && begins(text.slice(start, start + 5 * href.length + 64), wanted)) return true
  }
  return false
}

/** True if the text contains the value as a separate word. */
export function isWord(value: string, text: string): boolean {
  if (value === '' || value.length > maxLength) return false
  return new RegExp(`(?<![\\p{L}\\p{N}_])${escaped(value)}(?![\\p{L}\\p{N}_])`, 'iu').test(text)
}

const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

/** Matches the end of an address: a character that none contains, a closing bracket or column, or punctuation before these. */
const end = /^(?:[.:!?*_~]*(?:$|[\s"'<>`\\])|[)\]}|,;])/

/** True if exactly the path, the query and the fragment follow a host; a fragment can follow an address without one. */
function begins(text: string, wanted: string): boolean {
  const token = /^[^\s"'<>`\\“”‘’„«»…。，、）】》]*/u.exec(text)?.[0] ?? ''
  // Scripts without spaces, and dashes, can follow an address at once.
  const [cut = token] = token.split(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}—–]/u)
  return isToken(token, wanted) || (cut !== token && isToken(cut, wanted))
}

function isToken(token: string, wanted: string): boolean {
  if (!/^[/?#]/.test(token)) return wanted === '/' && end.test(token)
  const written = canonical(token.startsWith('/') ? token : `/${token}`)
  if (!written.startsWith(wanted)) return false
  const rest = written.slice(wanted.length)
  return end.test(rest) || (rest.startsWith('#') && !wanted.includes('#'))
}

/** Returns one spelling of all those that differ by percent-encoding, or by the entities of HTML. */
function canonical(text: string): string {
  return text.replace(/&amp;/gi, '&').replace(/%[\da-f]{2}|[^\x21-\x7e]/giu, piece => {
    if (!piece.startsWith('%')) return encode(piece)
    const character = String.fromCharCode(Number.parseInt(piece.slice(1), 16))
    return /[\w.~{}|^-]/.test(character) ? character : piece.toUpperCase()
  })
}

/** Leaves out lone surrogates, which have no encoding. */
const encode = (character: string) => (character.isWellFormed() ? encodeURIComponent(character) : character)
