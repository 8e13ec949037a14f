import { normalizedText } from '#platform/normalized-text.ts'

/** Converts dates, times and numbers as people write them into values of input fields. */

interface Field {
  /** The type of the input. */
  type: string
  /** The language tag of the page. */
  language?: string | undefined
  min?: string | undefined
  max?: string | undefined
  step?: string | undefined
}

interface Readings {
  /** Possible values of the text, without a check that such days or hours exist. */
  values: string[]
  /** True if the language makes the first value certain. */
  isDecided: boolean
  /** The expected form, for a sentence. */
  form: string
}

/** Max characters: patterns are slow for longer texts. */
const longestText = 100

const forms: Readonly<Record<string, string>> = {
  date: 'a date such as 2026-12-31 (year-month-day)',
  time: 'a time such as 17:30 or 5:30 pm',
  'datetime-local': 'a date and a time such as 2026-12-31T17:30, without a time zone',
  month: 'a month such as 2026-12',
  week: 'a week with its year, such as 2026-W05',
  number: 'a number such as 12.5, with digits and a point alone',
}

/** Returns undefined for a field that takes any text. */
export function readingsFor(
  { type, language, min = '0', max = '100', step = '1' }: Field,
  text: string,
): Readings | undefined {
  const form = type === 'range' ? `a number from ${min} to ${max} in steps of ${step}` : forms[type]
  if (form === undefined || (text === '' && type !== 'range')) return undefined
  const { order, months } = localeOf(language)
  const readings = text.length > longestText ? [] : readingsOf(type, plain(text), months)
  const values = [...new Set(readings)]
  return {
    values: order === 'mdy' ? values.reverse() : values,
    isDecided: order === 'mdy' || order === 'dmy',
    form,
  }
}

/** Replaces the signs of some languages by those of the usual form. */
function plain(text: string): string {
  const signs = normalizedText(text, 'NFKC')
    .replace(/\s*[年월月년]\s*/g, '-')
    .replace(/\s*[日일]/g, ' ')
  return signs.trim().toLowerCase()
}

interface Locale {
  /** The order of day, month and year; undefined if the language does not define it. */
  order: string | undefined
  /** Month numbers by names. */
  months: ReadonlyMap<string, string>
}

function localeOf(language = ''): Locale {
  const [tag] = supported(language)
  // The months of some languages are written as numbers.
  const named = [...monthsIn('en'), ...monthsIn(tag ?? 'en')].filter(([name]) => !/\d/.test(name))
  const months = new Map(named)
  // Only English is written in either order.
  if (tag === undefined || tag === 'en') return { order: undefined, months }
  const parts = new Intl.DateTimeFormat(tag, { dateStyle: 'short', calendar: 'gregory' }).formatToParts(0)
  const letters: Readonly<Record<string, string>> = { year: 'y', month: 'm', day: 'd' }
  return { order: parts.map(({ type }) => letters[type] ?? '').join(''), months }
}

/** Returns month numbers by full and short names, alone and beside a day. */
function monthsIn(locale: string): [name: string, month: string][] {
  const styles = ['long', 'short'] as const
  const formats = styles.flatMap(month =>
    [{}, { day: 'numeric' } as const].map(
      day => new Intl.DateTimeFormat(locale, { month, ...day, timeZone: 'UTC', calendar: 'gregory' }),
    ),
  )
  return formats.flatMap(format =>
    Array.from({ length: 12 }, (_, at): [string, string] => {
      const name = format.formatToParts(Date.UTC(2026, at, 15)).find(({ type }) => type === 'month')?.value
      return [(name ?? '').toLowerCase().replace(/\.$/, ''), String(at + 1)]
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

function readingsOf(type: string, text: string, months: Locale['months']): string[] {
  switch (type) {
    case 'date':
      return datesOf(text, months)
    case 'time':
      return timesOf(text)
    case 'datetime-local': {
      const [, date = '', time = ''] =
        /^(.*?\d{1,4}\S*?)(?:t|,?\s+(?:at\s+|um\s+|à\s+)?)(\d{1,2}(?:[:.h]|\s*[ap]\.?\s?m).*)$/.exec(text) ??
        []
      return datesOf(date, months).flatMap(day => timesOf(time).map(hour => `${day}T${hour}`))
    }
    case 'month':
      return monthsOf(text, months)
    case 'week':
      return weeksOf(text)
    default:
      return /^-?(\d+(\.\d+)?|\.\d+)(e[+-]?\d+)?$/.test(text) ? [text] : []
  }
}

const partsOf = (text: string) =>
  text.split(/[\s,./-]+/).filter(part => part !== '' && !/^(?:the|of|de|del|den)$/.test(part))
const two = (number: string) => number.padStart(2, '0')

/** Returns dates, with day before month first. */
function datesOf(text: string, months: Locale['months']): string[] {
  const parts = partsOf(text.replace(/(\d)(?:st|nd|rd|th|er|º|ª)\b/g, '$1'))
  const date = (year = '', month = '', day = '') =>
    /^\d{4},\d\d?,\d\d?$/.test([year, month, day].join()) ? [`${year}-${two(month)}-${two(day)}`] : []
  const [a = '', b, c] = parts.map(part => months.get(part) ?? part)
  if (parts.length !== 3) return []
  if (a.length === 4) return date(a, b, c)
  const named = parts.findIndex(part => months.has(part))
  return [...(named === 0 ? [] : date(c, b, a)), ...(named === 1 ? [] : date(c, a, b))]
}

function timesOf(text: string): string[] {
  const [, hour = '', minute, second, half] =
    /^(\d{1,2})(?:\s?[:.h]\s?(\d{2})?)?(?::(\d{2}(?:\.\d{1,3})?))?\s*(?:([ap])\.?\s?m\.?)?$/.exec(text) ?? []
  if (minute === undefined && half === undefined && !text.endsWith('h')) return []
  if (half !== undefined && !/^(?:0?[1-9]|1[0-2])$/.test(hour)) return []
  const hours = half === undefined ? hour : String((Number(hour) % 12) + (half === 'p' ? 12 : 0))
  return [`${two(hours)}:${minute ?? '00'}${Number(second ?? 0) > 0 ? `:${second}` : ''}`]
}

function monthsOf(text: string, months: Locale['months']): string[] {
  const parts = partsOf(text)
  const year = parts.find(part => /^\d{4}$/.test(part))
  const month = parts.map(part => months.get(part) ?? part).find(part => /^\d{1,2}$/.test(part))
  return parts.length === 2 && year && month ? [`${year}-${two(month)}`] : []
}

function weeksOf(text: string): string[] {
  const pattern =
    /^(\d{4})?[\s,/-]*(?:weeks?|wk|w|kw|semaine|semana)\s*(\d{1,2})(?:[\s,/-]*(?:of\s+)?(\d{4}))?$/
  const [, before, week = '', after] = pattern.exec(text) ?? []
  return (before === undefined) === (after === undefined) ? [] : [`${before ?? after}-W${two(week)}`]
}
