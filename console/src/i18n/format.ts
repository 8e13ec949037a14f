import { language } from './text.ts'

/** Caches formats by language; each call covers one set of options. */
function cached<Format>(make: (language: string) => Format): () => Format {
  const formats = new Map<string, Format>()
  return () => {
    const key = language.get()
    const format = formats.get(key) ?? make(key)
    formats.set(key, format)
    return format
  }
}

const plain = cached(key => new Intl.NumberFormat(key))
const percentage = cached(key => new Intl.NumberFormat(key, { style: 'percent', maximumFractionDigits: 0 }))
const dollars = cached(
  key => new Intl.NumberFormat(key, { style: 'currency', currency: 'USD', maximumFractionDigits: 4 }),
)
const exact = cached(key => new Intl.DateTimeFormat(key, { dateStyle: 'medium', timeStyle: 'short' }))
const clock = cached(key => new Intl.DateTimeFormat(key, { timeStyle: 'short' }))
const relative = cached(key => new Intl.RelativeTimeFormat(key, { numeric: 'auto' }))
const list = cached(key => new Intl.ListFormat(key))
const bytesOf = (unit: string) =>
  cached(key => new Intl.NumberFormat(key, { style: 'unit', unit, maximumFractionDigits: 1 }))
const units = (['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const).map(unit => bytesOf(unit))

export const formatNumber = (value: number) => plain().format(value)
/** Formats an amount in US dollars as the service writes it, such as 0.0125. */
export const formatDollars = (amount: string) => dollars().format(Number(amount))
/** Formats a `value` from 0 to 1 as a percentage. */
export const formatShare = (value: number) => percentage().format(value)
export const formatList = (values: readonly string[]) => list().format(values)
export const formatExactTime = (time: Date) => exact().format(time)
export const formatClock = (time: Date) => clock().format(time)

export function formatBytes(bytes: number): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  return units[power]?.().format(bytes / 1000 ** power) ?? ''
}

const durationOf = (unit: string) =>
  cached(
    key =>
      new Intl.NumberFormat(key, { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 1 }),
  )
const durations = [
  [1000, durationOf('millisecond'), 1],
  [60_000, durationOf('second'), 1000],
  [3_600_000, durationOf('minute'), 60_000],
  [86_400_000, durationOf('hour'), 3_600_000],
  [Number.POSITIVE_INFINITY, durationOf('day'), 86_400_000],
] as const

/** Formats milliseconds in a suitable unit. */
export function formatDuration(ms: number): string {
  const [, format, unit] = durations.find(([below]) => ms < below) ?? durations[0]
  return format().format(unit === 1 ? Math.round(ms) : ms / unit)
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** "3 minutes ago" within a day, else the date and time. */
export function formatTime(time: Date, now: number): string {
  const difference = time.getTime() - now
  const distance = Math.abs(difference)
  if (distance < minuteMs) return relative().format(0, 'second')
  if (distance < hourMs) return relative().format(Math.round(difference / minuteMs), 'minute')
  if (distance < dayMs) return relative().format(Math.round(difference / hourMs), 'hour')
  return formatExactTime(time)
}
