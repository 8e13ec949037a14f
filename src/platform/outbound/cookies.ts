/** The cookies that a site sets during redirects: some sites admit only readers that return them. */
export interface Cookies {
  /** Stores the cookies that this response sets. */
  keep(url: URL, answer: Headers): void
  /** Returns the header Cookie for this address; empty if there is none. */
  for(url: URL): string
}

/** Max cookies of a site: one that sets more is abusive. */
const maxCookies = 50
const maxCharacters = 8_000

/** Creates one exchange's cookies, which end with it; each origin gets its own, with any path or domain. */
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

/** Returns true if the line removes the cookie: by its age if it has one, else by its expiry. */
function isOver(line: string): boolean {
  const [, age] = /;\s*max-age\s*=\s*(-?\d+)/i.exec(line) ?? []
  if (age !== undefined) return Number(age) <= 0
  const [, end = ''] = /;\s*expires\s*=([^;]*)/i.exec(line) ?? []
  return Date.parse(end) <= Date.now()
}
