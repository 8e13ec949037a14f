/** A value that can't be taken for anything but itself, in any part of an address. */
export function encodeValue(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

/** Reserved characters stay, save those that would end the value or be read as something else. */
export function encodeReserved(text: string): string {
  return encodeValue(text).replace(/%(?:2F|3A|3F|40|24|2C|3B|3D)/g, code => decodeURIComponent(code))
}

const literal = /%[\dA-Fa-f]{2}|[A-Za-z\d\-._~!$&'()*+,;=:@/]/

/** Text of a path template as it stands in an address: what is encoded already stays so. */
export function encodeLiteralPath(text: string): string {
  const pieces = text.toWellFormed().match(/%[\dA-Fa-f]{2}|[\s\S]/gu) ?? []
  return pieces.map(piece => (literal.test(piece) ? piece : encodeURIComponent(piece))).join('')
}

/** Whether a parser of addresses would take this piece of a path for a step instead of a name. */
export function isDotSegment(segment: string): boolean {
  return /^(?:\.|%2e){1,2}$/i.test(segment)
}
