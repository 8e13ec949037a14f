/** Encodes a value so that none of its characters has a special meaning in any part of an address. */
export function encodeValue(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

/** Keeps reserved characters, except those that would end the value or be read as something else. */
export function encodeReserved(text: string): string {
  return encodeValue(text).replace(/%(?:2F|3A|3F|40|24|2C|3B|3D)/g, code => decodeURIComponent(code))
}

const literal = /%[\dA-Fa-f]{2}|[A-Za-z\d\-._~!$&'()*+,;=:@/]/

/** Encodes text of a path template for an address: encoded parts stay unchanged. */
export function encodeLiteralPath(text: string): string {
  const pieces = text.toWellFormed().match(/%[\dA-Fa-f]{2}|[\s\S]/gu) ?? []
  return pieces.map(piece => (literal.test(piece) ? piece : encodeURIComponent(piece))).join('')
}

/** Returns true if a URL parser would treat this path segment as a step (`.` or `..`) rather than a name. */
export function isDotSegment(segment: string): boolean {
  return /^(?:\.|%2e){1,2}$/i.test(segment)
}
