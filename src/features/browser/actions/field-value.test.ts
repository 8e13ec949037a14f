import { expect, it } from 'vitest'
import { readingsFor } from './field-value.ts'

it.each<[type: string, text: string, language: string | undefined, value: string | undefined]>([
  ['date', '2026-12-31', undefined, '2026-12-31'],
  ['date', '2026/2/3', undefined, '2026-02-03'],
  ['date', '5/5/2026', undefined, '2026-05-05'],
  ['date', '2/3/2026', 'en-US', '2026-02-03'],
  ['date', '2/3/2026', 'en-GB', '2026-03-02'],
  ['date', '2/3/2026', 'en', undefined],
  ['date', '2/3/2026', 'sv', undefined],
  ['date', '2/3/2026', 'pt_BR', '2026-03-02'],
  ['date', '2/3/2026', 'not a language', undefined],
  ['date', '2.3.2026', 'de', '2026-03-02'],
  ['date', '2. März 2026', 'de', '2026-03-02'],
  ['date', '2 févr. 2026', 'fr', '2026-02-02'],
  ['date', '2 de marzo de 2026', 'es', '2026-03-02'],
  ['date', 'March 2nd, 2026', undefined, '2026-03-02'],
  ['date', '2 Mar 2026', 'ja', '2026-03-02'],
  ['date', '2026年3月2日', 'ja', '2026-03-02'],
  ['date', '2/3/2026', 'vi', '2026-03-02'],
  ['date', '2026년 3월 2일', 'ko', '2026-03-02'],
  ['date', '2/3/26', 'en-US', undefined],
  ['date', '29/2/2028', 'en-GB', '2028-02-29'],
  ['date', 'tomorrow', 'en-US', undefined],
  ['time', '17:30', undefined, '17:30'],
  ['time', '5:30 pm', undefined, '17:30'],
  ['time', '12 AM', undefined, '00:00'],
  ['time', '12 p.m.', undefined, '12:00'],
  ['time', '17h30', 'fr', '17:30'],
  ['time', '17.30', 'fi', '17:30'],
  ['time', '9:05:07', undefined, '09:05:07'],
  ['time', '5', undefined, undefined],
  ['time', '13 pm', undefined, undefined],
  ['datetime-local', '2026-12-31T10:30', undefined, '2026-12-31T10:30'],
  ['datetime-local', 'Dec 31, 2026 at 5:15 PM', undefined, '2026-12-31T17:15'],
  ['datetime-local', '3.4.2026 17.30', 'de', '2026-04-03T17:30'],
  ['datetime-local', '2026-12-31T10:30Z', undefined, undefined],
  ['datetime-local', '2026-12-31', undefined, undefined],
  ['month', '2026-12', undefined, '2026-12'],
  ['month', '12/2026', undefined, '2026-12'],
  ['month', 'dezember 2026', 'de', '2026-12'],
  ['month', '2026年12月', 'ja', '2026-12'],
  ['month', 'December', undefined, undefined],
  ['week', '2026-W05', undefined, '2026-W05'],
  ['week', 'week 5, 2026', undefined, '2026-W05'],
  ['week', 'KW 53 2026', 'de', '2026-W53'],
  ['number', '-12.5e3', 'de', '-12.5e3'],
  ['number', '1,000', 'en-US', undefined],
])('a field for a %s takes %j of a page in %s as %s', (type, text, language, value) => {
  const { values = [], isDecided } = readingsFor({ type, language }, text) ?? {}
  expect(values.length > 1 && !isDecided ? undefined : values[0]).toBe(value)
})

it('a text that is longer than any date means none, and is not looked through', () => {
  for (const type of ['date', 'datetime-local', 'number'])
    expect(readingsFor({ type }, '1'.repeat(20_000))?.values).toEqual([])
})

it('an empty text empties a field, and text fields take any', () => {
  expect(readingsFor({ type: 'date' }, '')).toBeUndefined()
  expect(readingsFor({ type: 'text' }, '31.12.')).toBeUndefined()
})
