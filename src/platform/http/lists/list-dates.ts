import { readTime } from '../../time/written-time.ts'

interface DateParameters {
  from?: string
  to?: string
}

/**
 * Returns `from` and `to` in the form of stored times; a date alone means its beginning or its end. Throws
 * VALIDATION_ERROR for a text that is no time.
 */
export function readDates({ from, to }: DateParameters): DateParameters {
  return {
    ...(from === undefined ? {} : { from: readBound('from', from, 'from') }),
    ...(to === undefined ? {} : { to: readBound('to', to, 'to') }),
  }
}

/**
 * Returns the stored form of a time, which is in UTC unless it has an offset or zone.
 * @throws AppError VALIDATION_ERROR
 */
export function readBound(field: string, text: string, bound: 'from' | 'to'): string {
  // An unescaped plus sign in a query arrives as a space.
  const written = text.replace(/^(\d[\d-]{7,9}[T ][\d:.,]+) (?=\d)/i, '$1+')
  return new Date(readTime(field, written, { timeZone: 'UTC', bound })).toISOString()
}
