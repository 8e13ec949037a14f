import { afterAll, describe, expect, it } from 'vitest'
import { createLog } from '#platform/logging/log.ts'
import { createSandbox } from './sandbox.ts'

const fetch = () => Promise.reject(new Error('no requests'))
const sandbox = createSandbox({ log: createLog('silent'), fetch })
afterAll(() => sandbox.close())

async function returned(expression: string): Promise<unknown> {
  const run = await sandbox.run({ code: `return ${expression}`, argument: {}, owner: 'test' })
  return run.outcome === 'returned' ? run.value : run.message
}

const summer = 'new Date(Date.UTC(2026, 6, 1, 22, 5))'

/** The same expression in Node, whose `Intl` is right. */
const here = (expression: string) =>
  new Function(`return ${expression.replace('localeCompare(b)', 'localeCompare(b, "en-US")')}`)()

describe('is the same as in Node', () => {
  it.each([
    `${summer}.toLocaleString('fr-FR', { timeZone: 'Asia/Kolkata' })`,
    `${summer}.toLocaleString(['en-GB', 'de'], { dateStyle: 'full', timeStyle: 'long', timeZone: 'America/New_York' })`,
    `${summer}.toLocaleDateString('de-DE', { timeZone: 'Pacific/Auckland', weekday: 'long' })`,
    `${summer}.toLocaleTimeString('en-US', { timeZone: 'Australia/Lord_Howe', hour12: false })`,
    `${summer}.toLocaleDateString('ja-JP-u-ca-japanese', { timeZone: 'UTC', era: 'short' })`,
    `${summer}.toLocaleString('en-US')`,
    `new Date(NaN).toLocaleString('de')`,
    `new Intl.DateTimeFormat('sv', { timeZone: 'Europe/Paris' }).format(${summer})`,
    `new Intl.DateTimeFormat('de', { timeZone: 'Europe/Paris', month: 'long' }).formatToParts(${summer})`,
    `new Intl.DateTimeFormat('en', { timeZone: 'UTC' }).formatRange(0, 9e8)`,
    `Intl.DateTimeFormat().resolvedOptions().timeZone`,
    `new Intl.DateTimeFormat('de', { timeZone: 'europe/berlin' }).resolvedOptions()`,
    `(1234567.891).toLocaleString('de-DE')`,
    `(0.256).toLocaleString('fr', { style: 'percent', maximumFractionDigits: 1 })`,
    `(-0).toLocaleString('en') + NaN.toLocaleString('en') + (-1 / 0).toLocaleString('en')`,
    `12345678901234567890n.toLocaleString('en-IN')`,
    `[1, 2.5].map(Intl.NumberFormat('de', { style: 'currency', currency: 'EUR' }).format)`,
    `new Intl.NumberFormat('en', { notation: 'compact' }).formatToParts(98765)`,
    `new Intl.NumberFormat('en').format('123456789012345678.5')`,
    `new Intl.NumberFormat('en').format('1e999999')`,
    `[' 123456789012345678.5 ', '1.2345678901234567891e19', '+1', '0x1f', 'x'].map(new Intl.NumberFormat('en').format)`,
    `[1234.5, null, ${summer}].toLocaleString('de', { timeZone: 'UTC' })`,
    `new Float64Array([1.5, 2]).toLocaleString('de')`,
    `['z', 'ä', 'a', 'Z', '10', '9'].sort((a, b) => a.localeCompare(b, 'sv'))`,
    `['b', 'a', 'ä', 'B', 'a1', 'a', '', ' '].sort((a, b) => a.localeCompare(b))`,
    `['10', '9'].sort(new Intl.Collator('en', { numeric: true }).compare)`,
    `'a'.localeCompare('A', undefined, { sensitivity: 'base' })`,
    `'i'.toLocaleUpperCase('tr') + 'I'.toLocaleLowerCase('az') + 'ß'.toLocaleUpperCase()`,
    `new Intl.PluralRules('pl').select(3) + new Intl.PluralRules('en', { type: 'ordinal' }).select(2)`,
    `new Intl.RelativeTimeFormat('de', { numeric: 'auto' }).format(-1, 'day')`,
    `new Intl.ListFormat('en').format(new Set(['a', 'b', 'c']))`,
    `Intl.NumberFormat.supportedLocalesOf(['de', 'xx-none'])`,
    `['é', 'ﬁ', 'Å'].map(text => [text.normalize('NFD'), text.normalize('NFKC')])`,
  ])('%s', async expression => {
    expect(await returned(expression)).toEqual(here(expression))
  })
})

describe('throws', () => {
  it.each([
    [
      `${summer}.toLocaleString('de', { timeZone: 'Europe/Nowhere' })`,
      'RangeError: Invalid time zone specified: Europe/Nowhere',
    ],
    [`(1).toLocaleString('not_a_locale')`, 'RangeError: Incorrect locale information provided'],
    [
      `new Intl.NumberFormat('en', { style: 'currency', currency: '?' })`,
      'RangeError: Invalid currency code',
    ],
    [`(1).toLocaleString('en', { minimumFractionDigits: 1e9 })`, 'RangeError: '],
    [`new Intl.DateTimeFormat('en').format(NaN)`, 'RangeError: Invalid time value'],
    [`new Intl.DateTimeFormat('en', { dateStyle: 'full', hour: 'numeric' })`, 'TypeError: '],
    [`'a'.localeCompare('X'.repeat(200_000))`, 'TypeError: This text is longer than'],
    [`(1).toLocaleString('x'.repeat(5000))`, 'TypeError: Locales must be texts'],
    [`(1).toLocaleString('en', { style: 'x'.repeat(5000) })`, 'TypeError: Options must be'],
    [`new Intl.ListFormat('en').format(Array(5000).fill('x'))`, 'TypeError: This list has more than'],
    [`new Intl.Segmenter('en')`, 'TypeError'],
    [`(10n ** 350n).toLocaleString('en')`, 'RangeError: This number has 300 digits or more'],
  ])('%s', async (expression, message) => {
    expect(await returned(expression)).toContain(message)
  })
})
