/** The cookies that a site sets while it redirects a reader: some sites let only readers pass who bring them back. */
export interface Cookies {
  /** Takes over what this answer sets. */
  keep(url: URL, answer: Headers): void
  /** The header Cookie for this address; empty if there is none. */
  for(url: URL): string
}

/** A site that sets more has something else in mind. */
const maxCookies = 50
const maxCharacters = 8_000

/** Of one exchange, with which they are forgotten; each origin gets its own, with any path or domain. */
export function createCookies(): Cookies {
  const byOrigin = new Map<string, Map<string, string>>()
  const text = (cookies: ReadonlyMap<string, string> = new Map()) =>
    [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  return {
    keep({ origin }, answer) {
      const cookies = byOrigin.get(origin) ?? new Map<string, string>()
      byOrigin.set(origin, cookies)
      for (const line of answer.getSetCookie()) {
        const [, name = '', value = ''] = pair.exec(line)?.map(part => part.trim()) ?? []
        const next = new Map(cookies).set(name, value)
        if (name === '' || isOver(line)) cookies.delete(name)
        else if (next.size <= maxCookies && text(next).length <= maxCharacters) cookies.set(name, value)
      }
    },
    for: ({ origin }) => text(byOrigin.get(origin)),
  }
}

export function cookieHeader(cookies: Cookies, address: string | URL): Record<string, string> {
  const value = cookies.for(new URL(address))
  return value === '' ? {} : { cookie: value }
}

const pair = /^\s*([^=;\s]+)\s*=([^;]*)/

/** Whether the cookie is set to be removed: by its age if it has one, else by the time until which it is kept. */
function isOver(line: string): boolean {
  const [, age] = /;\s*max-age\s*=\s*(-?\d+)/i.exec(line) ?? []
  if (age !== undefined) return Number(age) <= 0
  const [, end = ''] = /;\s*expires\s*=([^;]*)/i.exec(line) ?? []
  return Date.parse(end) <= Date.now()
}
