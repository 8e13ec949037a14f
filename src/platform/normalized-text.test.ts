import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { processorTime } from '#test/support/processor-time.ts'
import { normalizedText } from './normalized-text.ts'

const forms = ['NFC', 'NFD', 'NFKC', 'NFKD'] as const

test.each(forms)('%s is the platform’s for every text that somebody writes', form => {
  const texts = [
    '',
    'Über Ångström',
    'e\u0301\u0323',
    'ﬁ ﷺ ½',
    'ישְׂרָאֵל',
    'تَشْكِيل',
    'की ខ្មែរ ไม้',
    '한국어 が',
    '👩🏽‍🚀',
  ]
  for (const text of texts) expect(normalizedText(text, form)).toBe(text.normalize(form))
  const most = `a${'\u0323\u0301'.repeat(15)} b`
  expect(normalizedText(most, form)).toBe(most.normalize(form))
})

test('of more combining marks in a row only the first thirty are kept', () => {
  expect(normalizedText(`x${'\u0301'.repeat(1000)}y`, 'NFD')).toBe(`x${'\u0301'.repeat(30)}y`)
  expect(normalizedText(`x${'\u{1e944}'.repeat(1000)}y`, 'NFD')).toBe(`x${'\u{1e944}'.repeat(30)}y`)
})

test.each(forms)(
  '%s of half a million combining marks takes no longer than that of other text',
  async form => {
    const hostile = [
      '\u0301\u0323'.repeat(250_000),
      `${'\u0301'.repeat(250_000)}${'\u0323'.repeat(250_000)}`,
      `a${'\u0323\u0301'.repeat(14)}`.repeat(17_000),
      '\u0344\u0f77'.repeat(250_000),
    ]
    for (const text of hostile)
      expect(await processorTime(() => normalizedText(text, form))).toBeLessThan(1_000)
  },
)

test('nothing else in the service calls the platform’s function', () => {
  const source = join(import.meta.dirname, '..')
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  const callers = files.filter(
    file =>
      /(?<!\.test)\.m?[jt]s$/.test(file) &&
      /\bnormalize\b['"\]]*(?:\?\.)?\s*\(/.test(readFileSync(join(source, file), 'utf8')),
  )
  expect(callers).toEqual(['platform/normalized-text.ts'])
})
