import { invalid } from '../../errors.ts'

export const startOfDay = '00:00:00.000'
export const endOfDay = '23:59:59.999'

interface DateParameters {
  from?: string
  to?: string
}

/**
 * `from` and `to` in the form in which times are stored; a date alone means its beginning or its end.
 * Throws VALIDATION_ERROR for what is no time.
 */
export function readDates({ from, to }: DateParameters): DateParameters {
  return {
    ...(from === undefined ? {} : { from: readInstant('from', from, startOfDay) }),
    ...(to === undefined ? {} : { to: readInstant('to', to, endOfDay) }),
  }
}

const isoTime = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:\d{2})?)?$/i

/**
 * A point in time as it is stored: in UTC unless it says otherwise; `timeOfDate` completes a date without a time.
 * @throws AppError VALIDATION_ERROR
 */
export function readInstant(field: string, text: string, timeOfDate: string): string {
  // An unescaped plus sign in a query arrives as a space.
  const [, date, time = timeOfDate, zone = 'Z'] = isoTime.exec(text.replace(' ', '+')) ?? []
  const isDay = date !== undefined && new Date(`${date}T00:00Z`).toJSON()?.startsWith(date)
  const milliseconds = isDay ? Date.parse(`${date}T${time}${zone}`.toUpperCase()) : Number.NaN
  if (Number.isNaN(milliseconds)) throw invalid(field, 'must be an ISO 8601 date or time')
  return new Date(milliseconds).toISOString()
}
