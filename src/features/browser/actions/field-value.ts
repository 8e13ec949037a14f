/** The texts that people write for a date, a time or a number, as the value that a field for these takes. */

interface Field {
  /** Of the input. */
  type: string
  /** A language tag, as the page gives it. */
  language?: string | undefined
  min?: string | undefined
  max?: string | undefined
  step?: string | undefined
}

interface FieldValue {
  value: string
  issue?: undefined
}

type Order = 'ymd' | 'dmy' | 'mdy'

const forms: Readonly<Record<string, string>> = {
  date: 'a date such as 2026-12-31 (year-month-day)',
  time: 'a time such as 17:30 or 5:30 pm',
  'datetime-local': 'a date and a time such as 2026-12-31T17:30, without a time zone',
  month: 'a month such as 2026-12',
  week: 'a week with its year, such as 2026-W05',
  number: 'a number such as 12.5, with digits and a point alone',
}

/** Undefined for a field that takes any text. */
export function fieldValueOf(field: Field, text: string): FieldValue | { issue: string } | undefined {
  const { type } = field
  if (type === 'range') return rangeValue(field, text)
  const form = forms[type]
  if (form === undefined || text === '') return undefined
  const written = type === 'number' ? text.trim() : plain(text)
  const readings = new Set(readingsOf(type, written, localeOf(field.language)))
  const [value] = readings
  if (value !== undefined && readings.size === 1) return { value }
  const doubt = [...readings].join(' or ')
  return { issue: doubt === '' ? `must be ${form}` : `may mean ${doubt}: write it as ${form}` }
}

/** In which the signs of some languages are those of the usual form. */
function plain(text: string): string {
  const signs = text
    .normalize('NFKC')
    .replace(/\s*[年월月년]\s*/g, '-')
    .replace(/\s*[日일]/g, ' ')
  return signs.trim().toLowerCase()
}

interface Locale {
  /** Undefined where the language does not say it. */
  order: Order | undefined
  months: ReadonlyMap<string, number>
}

function localeOf(language = ''): Locale {
  const [tag] = supported(language)
  // Those of some languages are numbers.
  const named = [...monthsIn('en'), ...monthsIn(tag ?? 'en')].filter(([name]) => !/\d/.test(name))
  const months = new Map(named)
  // English alone is written in either order.
  if (tag === undefined || tag === 'en') return { order: undefined, months }
  const parts = new Intl.DateTimeFormat(tag, { dateStyle: 'short', calendar: 'gregory' }).formatToParts(0)
  const letters: Readonly<Record<string, string>> = { year: 'y', month: 'm', day: 'd' }
  return { order: parts.map(({ type }) => letters[type] ?? '').join('') as Order, months }
}

/** Numbers by names in full and in short, alone and beside a day. */
function monthsIn(locale: string): [name: string, month: number][] {
  const styles = ['long', 'short'] as const
  const formats = styles.flatMap(month =>
    [{}, { day: 'numeric' } as const].map(
      day => new Intl.DateTimeFormat(locale, { month, ...day, timeZone: 'UTC', calendar: 'gregory' }),
    ),
  )
  return formats.flatMap(format =>
    Array.from({ length: 12 }, (_, at): [string, number] => {
      const name = format.formatToParts(Date.UTC(2026, at, 15)).find(({ type }) => type === 'month')?.value
      return [(name ?? '').toLowerCase().replace(/\.$/, ''), at + 1]
    }),
  )
}

function supported(language: string): string[] {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(language.replaceAll('_', '-'))
  } catch {
    return []
  }
}

function readingsOf(type: string, text: string, locale: Locale): string[] {
  switch (type) {
    case 'date':
      return datesOf(text, locale)
    case 'time':
      return timesOf(text)
    case 'datetime-local': {
      const [, date = '', time = ''] =
        /^(.*?\d{1,4}\S*?)(?:t|,?\s+(?:at\s+|um\s+|à\s+)?)(\d{1,2}(?:[:.h]|\s*[ap]\.?\s?m).*)$/.exec(text) ??
        []
      return datesOf(date, locale).flatMap(day => timesOf(time).map(hour => `${day}T${hour}`))
    }
    case 'month':
      return monthsOf(text, locale)
    case 'week':
      return weeksOf(text)
    default:
      return /^-?(\d+(\.\d+)?|\.\d+)(e[+-]?\d+)?$/i.test(text) ? [text] : []
  }
}

const two = (number: number) => String(number).padStart(2, '0')

/** Every date that it may mean; one where the locale decides. */
function datesOf(text: string, { order, months }: Locale): string[] {
  const words = text.replace(/(\d)(?:st|nd|rd|th|er|º|ª)\b/g, '$1').split(/[\s,./-]+/)
  const parts = words.filter(word => word !== '' && !/^(?:the|of|de|del|den)$/.test(word))
  if (parts.length !== 3) return []
  const named = parts.findIndex(part => months.has(part))
  const numbers = parts.map(part => (/^(?:\d{4}|\d{1,2})$/.test(part) ? part : ''))
  const yearFirst = numbers[0]?.length === 4
  const date = (year = '', month = '', day = '') => {
    const [y, m, d] = [year, month, day].map(Number) as [number, number, number]
    const isShort = month.length < 3 && day.length > 0 && day.length < 3 && year.length === 4
    const at = new Date(Date.UTC(y, m - 1, d))
    const isThere = at.getUTCMonth() === m - 1 && at.getUTCDate() === d && y > 0
    return isShort && isThere ? [`${year}-${two(m)}-${two(d)}`] : []
  }
  if (named !== -1) {
    const [first, second] = numbers.filter((_number, at) => at !== named)
    const month = String(months.get(parts[named] ?? ''))
    return yearFirst ? date(first, month, second) : date(second, month, first)
  }
  const [a, b, c] = numbers
  if (yearFirst) return date(a, b, c)
  const readings = { dmy: date(c, b, a), mdy: date(c, a, b), ymd: [] }
  const both = [...new Set([...readings.dmy, ...readings.mdy])]
  const decided = order === undefined ? [] : readings[order]
  return both.length > 1 && decided.length > 0 ? decided : both
}

function timesOf(text: string): string[] {
  const { hour, minute, second, half } =
    /^(?<hour>\d{1,2})(?:\s?[:.h]\s?(?<minute>\d{2})?)?(?::(?<second>\d{2}(?:\.\d{1,3})?))?\s*(?:(?<half>[ap])\.?\s?m\.?)?$/.exec(
      text,
    )?.groups ?? {}
  if (hour === undefined || (minute === undefined && half === undefined && !text.endsWith('h'))) return []
  const [given, minutes] = [Number(hour), Number(minute ?? 0)]
  const isHalf = half !== undefined
  const hours = isHalf ? (given % 12) + (half === 'p' ? 12 : 0) : given
  const isThere =
    (isHalf ? given >= 1 && given <= 12 : given < 24) && minutes < 60 && Number(second ?? 0) < 60
  return isThere ? [`${two(hours)}:${two(minutes)}${second === undefined ? '' : `:${second}`}`] : []
}

function monthsOf(text: string, { months }: Locale): string[] {
  const parts = text.split(/[\s,./-]+/).filter(part => part !== '' && !/^(?:of|de)$/.test(part))
  const year = parts.find(part => /^\d{4}$/.test(part))
  const other = parts.find(part => part !== year) ?? ''
  const month = months.get(other) ?? (/^\d{1,2}$/.test(other) ? Number(other) : 0)
  return parts.length === 2 && year !== undefined && month >= 1 && month <= 12
    ? [`${year}-${two(month)}`]
    : []
}

function weeksOf(text: string): string[] {
  const [, first, week, later] =
    /^(?:(\d{4})[\s,/-]*)?(?:weeks?|wk|w|kw|semaine|semana)\s*(\d{1,2})(?:[\s,/-]*(?:of\s+)?(\d{4}))?$/.exec(
      text,
    ) ?? []
  const year = first ?? later
  if (year === undefined || (first === undefined) === (later === undefined)) return []
  // The last week of a year is that of 28 December.
  const last = new Date(Date.UTC(Number(year), 11, 28))
  const thursday = last.getTime() + (4 - (last.getUTCDay() || 7)) * 86_400_000
  const weeks = Math.ceil(((thursday - Date.UTC(Number(year), 0, 1)) / 86_400_000 + 1) / 7)
  return Number(week) >= 1 && Number(week) <= weeks ? [`${year}-W${two(Number(week))}`] : []
}

function rangeValue(
  { min = '0', max = '100', step = '1' }: Field,
  text: string,
): FieldValue | { issue: string } {
  const [value, low, high] = [text, min, max].map(Number) as [number, number, number]
  const by = Number(step) > 0 ? Number(step) : 1
  const steps = (value - low) / by
  const isOnStep = step === 'any' || Math.abs(steps - Math.round(steps)) < 1e-6
  if (/^\s*[-+]?[\d.]+\s*$/.test(text) && value >= low && value <= high && isOnStep)
    return { value: String(value) }
  return { issue: `must be a number from ${min} to ${max}${step === 'any' ? '' : ` in steps of ${step}`}` }
}
