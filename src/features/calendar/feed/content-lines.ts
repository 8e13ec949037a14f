/** The lines of iCalendar by RFC 5545. */

const maxOctets = 75

/** Escapes the text of a property. */
export function escapeText(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/[\\;,]/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replace(/[\p{Cc}\u2028\u2029]/gu, ' ')
    .toWellFormed()
}

/** Returns lines for sending: long ones folded, each with its end. */
export function toText(lines: Iterable<string>): string {
  return Array.from(lines, line => `${folded(line)}\r\n`).join('')
}

/** Folds a line between characters; each continuation begins with a space. */
function folded(line: string): string {
  if (Buffer.byteLength(line) <= maxOctets) return line
  let octets = 0
  let text = ''
  for (const character of line) {
    const length = Buffer.byteLength(character)
    if (octets + length > maxOctets) {
      text += '\r\n '
      octets = 1
    }
    text += character
    octets += length
  }
  return text
}

/** Returns a time in UTC. @param time milliseconds, of an instant or on a clock on the wall */
export function dateTime(time: number): string {
  return new Date(time).toISOString().replace(/[-:]|\.\d+Z/g, '')
}
