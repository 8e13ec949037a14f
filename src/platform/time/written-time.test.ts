import { Temporal } from 'temporal-polyfill'
import { describe, expect, it } from 'vitest'
import { seededRandom } from '#test/support/random.ts'
import { zones } from '#test/support/wall-clock-oracle.ts'
import { formsOf } from '#test/support/written-times.ts'
import { type Reading, readTime, sortableTime } from './written-time.ts'

const read = (text: string, reading: Reading = {}) => new Date(readTime('at', text, reading)).toISOString()

/** All of them are 15 July 2027, 06:05:04 in UTC. */
const equal = `
2027-07-15T06:05:04Z 2027-07-15T06:05:04z 2027-07-15t06:05:04.000z 2027-07-15T06:05:04-00:00 2027-07-15T06:05:04+00
2027-07-15T06:05:04+00:00:00 20270715T060504Z 20270715t060504,000z 2027-07-15T060504Z 20270715T06:05:04Z
2027-07-15T15:05:04+09 2027-07-15T15:05:04+0900 2027-07-15T15:05:04+09:00 2027-07-15T15:05:04+09:00:00 2027-07-15T15:05:04+090000
20270715T150504+09 20270715T150504,00+0900 2027-07-15T15:05:04,0+09:00 2027-07-15T15:05:04.0000000000000000+09
2027-07-14T23:05:04-07 2027-07-14T23:05:04-0700 2027-07-14T23:05:04-07:00 2027-07-14T23:05:04\u221207:00
2027-07-15T11:50:04+05:45 2027-07-15T11:50:04+0545 2027-07-15T02:35:04-03:30 2027-07-15T06:24:36+00:19:32
2027-07-15T08:05:04[Europe/Berlin] 2027-07-15T08:05:04+02[Europe/Berlin] 2027-07-15T06:05:04Z[Europe/Berlin]
2027-07-15T06:05:04-00:00[Europe/Berlin] 2027-07-15T08:05:04+02:00:00[!Europe/Berlin] 20270715T080504+0200[europe/berlin]
2027-07-15T15:05:04[Asia/Tokyo][u-ca=japanese] 2027-07-15T15:05:04+09:00[Asia/Tokyo][!u-ca=japanese][x-note=one-two]
2027-07-15T06:05:04Z[u-ca=gregory] 2027-07-15T06:05:04Z[_local=yes] 2027-07-15T15:05:04[+09:00] 2027-07-15T15:05:04+09[+0900]
2027-07-14T20:05:04[Pacific/Honolulu] 2027-07-15T06:05:04[UTC] 2027-07-15T16:35:04[Australia/Lord_Howe]`
  .split(/\s+/)
  .filter(text => text !== '')

const blanks = [
  '2027-07-15 15:05:04+09',
  '2027-07-15 15:05:04 +0900',
  '2027-07-15 06:05:04 Z',
  '2027-07-14 23:05:04,000 -07:00',
  '20270715 150504+0900',
  '2027-07-15 08:05:04[Europe/Berlin]',
  '2027-07-15 08:05:04 +02:00[Europe/Berlin]',
]

/** Texts and a part of the sentence that refuses them. */
const refused: [text: string, part: string][] = [
  ['2027-07-15T06:05:60Z', 'write second 59'],
  ['2016-12-31T23:59:60+00:00', 'leap second'],
  ['2027-W28-4', 'write its month and day'],
  ['2027W284T060504Z', 'write its month and day'],
  ['2027-W28-4T06:05Z', 'write its month and day'],
  ['2027-196', 'write its month and day'],
  ['2027196T060504Z', 'write its month and day'],
  ['2027-196T06:05Z', 'write its month and day'],
  ['2027-02-29T06:05Z', 'a day that does not exist'],
  ['2027-04-31T06:05+02', 'a day that does not exist'],
  ['2027-13-01T06:05Z', 'a day that does not exist'],
  ['2027-00-10T06:05Z', 'a day that does not exist'],
  ['2027-07-15T24:00:01Z', 'a time of day that does not exist'],
  ['2027-07-15T24:00:00.0001Z', 'a time of day that does not exist'],
  ['2027-07-15T25:00Z', 'a time of day that does not exist'],
  ['2027-07-15T06:60Z', 'a time of day that does not exist'],
  ['2027-07-15T06:05:61Z', 'a time of day that does not exist'],
  ['2027-07-15T06:05:04+24:00', 'an offset that does not exist'],
  ['2027-07-15T06:05:04+02:60', 'an offset that does not exist'],
  ['2027-07-15T06:05:04+01:00[Europe/Berlin]', 'does not have then'],
  ['2027-01-15T06:05:04+02[Europe/Berlin]', 'does not have then'],
  ['2027-07-15T06:05:04+02[+0300]', 'does not have then'],
  ['2027-03-28T02:30:00+01:00[Europe/Berlin]', 'does not have then'],
  ['2027-07-15T06:05:04[Mars/Base]', 'is no time zone'],
  ['2027-07-15T06:05:04Z[+25:00]', 'is no time zone'],
  ['2027-07-15T06:05:04Z[Europe/Berlin][Europe/Paris]', 'is not known'],
  ['2027-07-15T06:05:04Z[!x-note=one]', 'is not known'],
  ['2027-07-15T06:05:04Z[!u-ca=mayan]', 'is not known'],
  ['2027-07-15T06:05:04', 'needs its offset'],
  ['2027-07-15', 'needs its offset'],
  ['2027-07-15T06:05:04[u-ca=gregory]', 'needs its offset'],
  ['0000-01-01T00:00+01:00', 'years 0000 to 9999'],
  ['9999-12-31T23:59-01', 'years 0000 to 9999'],
  ...[
    ...[
      '',
      ' ',
      'soon',
      '2027',
      '2027-07',
      '20270715',
      '1816495504',
      '1816495504000',
      '06:05:04Z',
      '15.07.2027 06:05',
    ],
    ...['07/15/2027', 'Thu, 15 Jul 2027 06:05:04 GMT', '2027-07-15T06:05:04 UTC', '2027-07-15T06:05:04 CEST'],
    ...[
      '2027-07-15T06:05:04 PM',
      '2027-07-15T6:05Z',
      '2027-7-15T06:05Z',
      '2027-0715T06:05Z',
      '2027-07-15T06:0504Z',
    ],
    ...[
      '2027-07-15T06:05:04+2',
      '2027-07-15T06:05:04+02:',
      '2027-07-15T06:05:04+02:00Z',
      '2027-07-15T06:05:04Z+02:00',
    ],
    ...[
      '2027-07-15T06:05.5Z',
      '2027-07-15T06.5Z',
      '2027-07-15T06:05:04.Z',
      '2027-07-15T06:05:04Z[]',
      '2027-07-15+02:00',
    ],
    ...[
      '2027-07-15T06:05:04Z[Europe/Berlin',
      '2027-07-15Tx',
      '+002027-07-15T06:05Z',
      '2027-07-15T06:05:04+02:00:00.5',
    ],
  ].map((text): [string, string] => [text, 'must be an ISO 8601 date or time']),
]

describe('a written time', () => {
  it.each([...equal, ...blanks])('counts as it is, whatever zone is given: %s', text => {
    for (const timeZone of [undefined, 'UTC', 'America/New_York', 'Asia/Kathmandu'])
      expect(read(text, timeZone === undefined ? {} : { timeZone })).toBe('2027-07-15T06:05:04.000Z')
  })

  it.each(refused)('is refused with a sentence: %j', (text, part) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }))
    expect(() => read(text)).toThrow(part)
    expect(sortableTime(text)).toBeUndefined()
  })

  it.each<[text: string, reading: Reading, expected: string]>([
    ['2027-07-15T06:05', { timeZone: 'Europe/Berlin' }, '2027-07-15T04:05:00.000Z'],
    ['2027-07-15 06', { timeZone: 'Europe/Berlin' }, '2027-07-15T04:00:00.000Z'],
    ['20270715T0605', { timeZone: 'America/St_Johns' }, '2027-07-15T08:35:00.000Z'],
    ['2027-07-15T06:05[u-ca=iso8601]', { timeZone: 'Asia/Tokyo' }, '2027-07-14T21:05:00.000Z'],
    ['2027-07-15', { timeZone: 'Asia/Tokyo' }, '2027-07-14T15:00:00.000Z'],
    ['2027-07-15', { timeZone: 'Asia/Tokyo', bound: 'to' }, '2027-07-15T14:59:59.999Z'],
    ['2027-07-15[Asia/Tokyo]', { timeZone: 'UTC', bound: 'to' }, '2027-07-15T14:59:59.999Z'],
    ['2027-07-31T24:00Z', {}, '2027-08-01T00:00:00.000Z'],
    ['2027-12-31T24:00:00,00+01', {}, '2027-12-31T23:00:00.000Z'],
    // Digits behind the millisecond never reach another one, but where a range begins.
    ['2027-07-15T06:05:04.9999999999Z', {}, '2027-07-15T06:05:04.999Z'],
    ['2027-07-15T06:05:04.0009Z', { bound: 'to' }, '2027-07-15T06:05:04.000Z'],
    ['2027-07-15T06:05:04.0000001Z', { bound: 'from' }, '2027-07-15T06:05:04.001Z'],
    ['2027-07-15T06:05:04.0010000Z', { bound: 'from' }, '2027-07-15T06:05:04.001Z'],
    ['1901-07-15T06:05:04.0019Z', {}, '1901-07-15T06:05:04.001Z'],
    // Skipped by clocks, and shown twice by them.
    ['2027-03-28T02:30[Europe/Berlin]', {}, '2027-03-28T01:30:00.000Z'],
    ['2027-10-31T02:30[Europe/Berlin]', {}, '2027-10-31T00:30:00.000Z'],
    ['2027-10-31T02:30+01[Europe/Berlin]', {}, '2027-10-31T01:30:00.000Z'],
  ])('%s with %j is %s', (text, reading, expected) => {
    expect(read(text, reading)).toBe(expected)
  })

  it('that clocks skip is refused where a day has to have it', () => {
    const reading = { timeZone: 'Europe/Berlin', refuseGaps: true }
    expect(() => read('2027-03-28T02:30', reading)).toThrow('clocks skip it')
    expect(read('2027-03-28T03:30', reading)).toBe('2027-03-28T01:30:00.000Z')
  })

  it('sorts as a text, to its last digit', () => {
    const inOrder = [
      ...[
        '1999-12-31T23:59:59.99Z',
        '2027-07-15T10:00:00+04:00',
        '2027-07-15T06:00:00.0001Z',
        '20270715T060000,00011Z',
      ],
      ...['2027-07-15T06:00:00.001Z', '2027-07-15 08:00:00.0011+02[Europe/Berlin]', '2027-07-14T23:30-07'],
    ]
    expect(inOrder.map(sortableTime)).toEqual(inOrder.map(sortableTime).toSorted())
    expect(new Set(inOrder.map(sortableTime)).size).toBe(inOrder.length)
  })
})

/** As it is read here; undefined for what is refused. */
function ours(text: string, timeZone: string): number | undefined {
  try {
    return readTime('at', text, { timeZone })
  } catch (error) {
    expect(error, text).toMatchObject({ code: 'VALIDATION_ERROR' })
    return undefined
  }
}

/** As Temporal reads it; undefined for what it does not read. */
function oracle(text: string, timeZone: string): number | undefined {
  const readings = [
    () => Temporal.ZonedDateTime.from(text, { offset: 'reject' }).epochMilliseconds,
    () => (text.includes('[') ? undefined : Temporal.Instant.from(text).epochMilliseconds),
    () =>
      text.includes('[')
        ? undefined
        : Temporal.PlainDateTime.from(text).toZonedDateTime(timeZone).epochMilliseconds,
  ]
  for (const reading of readings)
    try {
      return reading()
    } catch {}
  return undefined
}

describe('any instant', () => {
  const random = seededRandom(37)
  const anyFraction = () => String(random.next()).slice(2, 2 + random.pick([0, 1, 3, 6, 9, 15]))
  const anySecond = () => Math.floor((random.next() * Date.UTC(2100, 0)) / 1000) * 1000

  it.each(zones)('is read back from all of its forms in %s', zone => {
    for (let count = 0; count < 6; count += 1) {
      const [instant, fraction] = [anySecond(), anyFraction()]
      const milliseconds = instant + Number(fraction.slice(0, 3).padEnd(3, '0'))
      for (const text of formsOf(instant, zone, fraction))
        expect(readTime('at', text, { timeZone: random.pick(zones) }), text).toBe(milliseconds)
    }
  })

  it('with a typing error is the one that Temporal reads, or refused', () => {
    const forms = Array.from({ length: 60 }, () =>
      formsOf(anySecond(), random.pick(zones), anyFraction().slice(0, 9)),
    )
    const timeZone = 'Asia/Kathmandu'
    let both = 0
    for (let count = 0; count < 4_000; count += 1) {
      const text = random.pick(random.pick(forms))
      const at = Math.floor(random.next() * text.length)
      const typed = random.pick([...'01234560:-+.,TZ []', ''])
      const wrong = text.slice(0, at) + typed + text.slice(at + random.pick([0, 1, 1, 2]))
      const [found, expected] = [ours(wrong, timeZone), oracle(wrong, timeZone)]
      if (found === undefined || expected === undefined) continue
      expect(found, wrong).toBe(expected)
      both += 1
    }
    expect(both).toBeGreaterThan(300)
  })
})
