/** The cookies that a site sets while it redirects a reader: some sites send nobody on who does not bring them back. */
export interface Cookies {
  /** Takes over what this answer sets. */
  keep(url: URL, answer: Headers): void
  /** What goes to this address as the header Cookie; empty if nothing does. */
  for(url: URL): string
}

/** A site that sets more has something else in mind. */
const mostCookies = 50
const mostCharacters = 8_000

/** Of one exchange, with which they are forgotten; each origin gets its own, whatever path or domain it names. */
export function createCookies(): Cookies {
  const byOrigin = new Map<string, Map<string, string>>()
  const text = (cookies: ReadonlyMap<string, string> = new Map()) =>
    [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  return {
    keep({ origin }, answer) {
      const cookies = byOrigin.get(origin) ?? new Map<string, string>()
      byOrigin.set(origin, cookies)
      for (const line of answer.getSetCookie()) {
        const { name, value } = pairOf(line)
        const next = new Map(cookies).set(name, value)
        if (!isName.test(name) || isOver(line)) cookies.delete(name)
        else if (next.size <= mostCookies && text(next).length <= mostCharacters) cookies.set(name, value)
      }
    },
    for: ({ origin }) => text(byOrigin.get(origin)),
  }
}

export function cookieHeader(cookies: Cookies, address: string | URL): Record<string, string> {
  const value = cookies.for(new URL(address))
  return value === '' ? {} : { cookie: value }
}

const isName = /^\S+$/

/** Cut and not matched: blanks without end, which a hostile site may send, would be tried in all their parts. */
function pairOf(line: string): { name: string; value: string } {
  const [pair = ''] = line.split(';', 1)
  const end = pair.indexOf('=')
  return { name: pair.slice(0, Math.max(end, 0)).trim(), value: pair.slice(end + 1).trim() }
}

/** Whether the cookie is set to be removed. */
function isOver(line: string): boolean {
  return /;\s*max-age\s*=\s*(?:0|-\d+)\s*(?:;|$)/i.test(line) || /;\s*expires\s*=[^;]*\b1970\b/i.test(line)
}
