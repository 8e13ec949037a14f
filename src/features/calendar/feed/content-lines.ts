/** The lines of iCalendar, as RFC 5545 has them. */

const maxOctets = 75

/** Text within a property. */
export function escapeText(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/[\\;,]/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replace(/[\p{Cc}\u2028\u2029]/gu, ' ')
    .toWellFormed()
}

/** Lines as they are sent: folded where they are too long, each with its end. */
export function toText(lines: Iterable<string>): string {
  return Array.from(lines, line => `${folded(line)}\r\n`).join('')
}

/** Cut between characters; what goes on in the next line begins with a space. */
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

/** In UTC. @param time milliseconds, of an instant or on a clock on the wall */
export function dateTime(time: number): string {
  return new Date(time).toISOString().replace(/[-:]|\.\d+Z/g, '')
}
