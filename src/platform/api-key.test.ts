import { describe, expect, it } from 'vitest'
import { apiKeyHash, apiKeyHint, maskApiKeys, newApiKey } from './api-key.ts'

const key = newApiKey('agent')

describe('a key', () => {
  it.each([
    ['agent', /^asa_[0-9A-Za-z]{38}$/],
    ['personal', /^asp_[0-9A-Za-z]{38}$/],
  ] as const)('of kind %s is one word, another one each time, with a checksum', (kind, form) => {
    const keys = Array.from({ length: 200 }, () => newApiKey(kind))
    expect(new Set(keys)).toHaveLength(200)
    for (const one of keys)
      expect([one, apiKeyHash(one)]).toEqual([expect.stringMatching(form), expect.any(String)])
  })

  it.each<[typo: string, text: string]>([
    ['a digit less', key.slice(0, -1)],
    ['a digit more', `${key}0`],
    ['a blank behind it', `${key} `],
    ['another prefix', key.replace('asa_', 'asp_')],
    [
      'two digits in each other’s place',
      key.replace(/(?<=^asa_)(.)(.)/, (_, one, two) => (one === two ? `${two}!` : two + one)),
    ],
    ['nothing', ''],
    ['the prefix alone', 'asa_'],
  ])('is none with %s', (_typo, text) => {
    expect(apiKeyHash(text)).toBeUndefined()
  })

  it('is none with any one digit changed', () => {
    for (let at = 4; at < key.length; at += 1) {
      const typo = `${key.slice(0, at)}${key[at] === 'x' ? 'y' : 'x'}${key.slice(at + 1)}`
      expect(apiKeyHash(typo), `at ${at}`).toBeUndefined()
    }
  })
})

it.each([
  ['Bearer KEY', 'Bearer MASKED'],
  ['{"a":"KEY","b":["KEY"]}', '{"a":"MASKED","b":["MASKED"]}'],
  ['/api/KEY?x=KEY', '/api/MASKED?x=MASKED'],
  ['asa_short, asp_ and casa_blanca', 'asa_short, asp_ and casa_blanca'],
])('keys are masked in %s', (text, masked) => {
  expect(maskApiKeys(text.replaceAll('KEY', key))).toBe(
    masked.replaceAll('MASKED', `asa_…${apiKeyHint(key)}`),
  )
})
