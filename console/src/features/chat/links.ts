const schemes = ['http:', 'https:', 'mailto:']

/** Returns the address if a link of an answer may open it: web or mail, without credentials. */
export function safeAddress(href: string): URL | undefined {
  const url = URL.parse(href)
  const isSafe = url !== null && schemes.includes(url.protocol) && url.username === '' && url.password === ''
  return isSafe ? url : undefined
}

/** Returns the hosts of the addresses, without invalid ones. */
export function hostsOf(addresses: readonly (string | undefined | null)[]): ReadonlySet<string> {
  return new Set(addresses.flatMap(address => URL.parse(address ?? '')?.host ?? []))
}

const names: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  copy: '©',
  reg: '®',
  trade: '™',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  bull: '•',
  middot: '·',
  times: '×',
  rarr: '→',
  larr: '←',
  deg: '°',
  euro: '€',
}

/** Decodes character references; unknown ones stay as they are. */
export function decodeReferences(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return names[name] ?? whole
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole
  })
}
