import { instantOf, offsetAt } from '#platform/time/zones.ts'

/** Offsets of a zone, in their spellings. */
function offsetsAt(instant: number, zone: string): string[] {
  const offset = offsetAt(instant, zone)
  const [hours, minutes] = new Date(Math.abs(offset)).toISOString().slice(11, 16).split(':')
  const spellings = [
    `:${minutes}:00`,
    `${minutes}00`,
    `:${minutes}`,
    `${minutes}`,
    ...(minutes === '00' ? [''] : []),
  ]
  const signed = spellings.map(rest => (offset < 0 ? '-' : '+') + hours + rest)
  return offset === 0 ? ['Z', 'z', '-00:00', ...signed] : signed
}

/** The accepted forms of an instant, written in a zone: its parts in every spelling, combined. */
export function formsOf(instant: number, zone: string, fraction: string): string[] {
  const wall = instant + offsetAt(instant, zone)
  const [date = '', time = ''] = new Date(wall).toISOString().slice(0, 19).split('T')
  const offsets = offsetsAt(instant, zone)
  const zoned = offsets.flatMap(one => [one, ` ${one}`, `${one}[!${zone}]`, `${one}[u-ca=gregory]`])
  const own = instantOf(wall, zone) === instant ? [`[${zone}]`, `[${zone}][u-ca=hebrew]`] : []
  return [
    [date, date.replaceAll('-', '')],
    ['T', 't', ' '],
    [time, time.replaceAll(':', '')],
    fraction === '' ? [''] : [`.${fraction}`, `,${fraction}`],
    [...zoned, ...own],
  ].reduce((begun, parts) => begun.flatMap(text => parts.map(part => text + part)))
}
