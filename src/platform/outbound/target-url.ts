/** A parsed foreign address; `reason` is a sentence for a person, and repeats no part of it. */
export type Target = { ok: true; url: URL } | { ok: false; reason: string }

/**
 * Reads a foreign address. This is the only parser: connections go to its result. Spellings that other
 * parsers read differently are refused instead of repaired. Permission is decided elsewhere. `base` makes a
 * relative reference, such as that of a redirect, absolute.
 */
export function parseTarget(input: string | URL, base?: URL): Target {
  const text = typeof input === 'string' ? input.trim() : input.href
  if (text.includes('\\')) return refusal('it contains a backslash')
  if (/[\s\p{Cc}]/u.test(text)) return refusal('it contains white space or a control character')
  const url = URL.parse(text, base?.href)
  if (url === null) return refusal('it is not a full address such as https://example.com/page')
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return refusal('only http and https addresses can be reached')
  }
  if (url.username !== '' || url.password !== '') {
    return refusal('it carries a user name or password; send credentials in a header')
  }
  return { ok: true, url }
}

function refusal(reason: string): Target {
  return { ok: false, reason: `The address is refused: ${reason}.` }
}
