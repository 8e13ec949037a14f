import ICAL from 'ical.js'
import nodeIcal from 'node-ical'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import type { ListedTask } from '../calendar.schema.ts'
import { escapeText, toText } from './content-lines.ts'

const years = [2026, 2027, 2028, 2029, 2030]
const [begin, end] = [Date.UTC(2026), Date.UTC(2031)]
let app: TestApp

beforeAll(async () => {
  app = await buildApp({ environment: { DEV_USER: 'dev@example.com' }, clock: manualClock() })
})

afterAll(() => app.close())

/** Times that are in no gap: what programs make of these, they disagree on. */
const tasks = [
  {
    title: 'daily',
    start_time: '2026-01-05T09:30:00',
    recurrence: 'daily',
    exceptions: ['2026-02-01', '2028-02-29'],
  },
  { title: 'weekly', start_time: '2025-06-04T23:15:00', recurrence: 'weekly', recurrence_days: [0, 3, 5] },
  { title: 'later', start_time: '2026-01-01T00:00:00', recurrence: 'weekly', recurrence_days: [2] },
  { title: 'day 15', start_time: '2026-01-15T12:00:00', recurrence: 'monthly', recurrence_end: '2029-03-15' },
  { title: 'day 29', start_time: '2026-01-29T08:00:00', recurrence: 'monthly', exceptions: ['2027-02-28'] },
  { title: 'day 30', start_time: '2026-02-28T10:00:00', recurrence: 'monthly' },
  { title: 'day 30 from April', start_time: '2026-04-30T10:00:00', recurrence: 'monthly' },
  { title: 'day 31', start_time: '2025-12-31T23:00:00', recurrence: 'monthly' },
  { title: 'once', start_time: '2027-07-07T07:07:07' },
]

async function calendarIn(timezone: string) {
  const path = `/api/agents/${await makeAgent(app)}/calendar`
  for (const task of tasks) {
    const minutes = Date.parse(`${task.start_time}Z`) + 45 * 60_000
    const end_time = new Date(minutes).toISOString().replace('Z', '')
    const body = { ...task, timezone, end_time }
    expect(await app.call('POST', path, { body })).toMatchObject({ status: 201 })
  }
  const { body } = await app.call<{ url: string }>('POST', `${path}/feed`)
  const feed = await app.call<string>('GET', body.url.slice(body.url.indexOf('/api')))
  const ours: string[] = []
  for (const year of years)
    for (const months of ['01-01&end={y}-06-30', '07-01&end={y}-12-31']) {
      const query = `start=${year}-${months.replace('{y}', String(year))}&limit=1000`
      const listed = await app.call<{ tasks: ListedTask[] }>('GET', `${path}?${query}`)
      ours.push(...listed.body.tasks.map(task => `${task.title} ${task.start_time} ${task.end_time}`))
    }
  return { feed: feed.body, ours: [...new Set(ours)].toSorted() }
}

function entry(title: string, start: Date, until: Date): string[] {
  const isWithin = start.getTime() >= begin && start.getTime() < end
  return isWithin ? [`${title} ${start.toISOString()} ${until.toISOString()}`] : []
}

/** By ical.js, which knows zones from the feed alone. */
function expandByIcalJs(text: string): string[] {
  const calendar = new ICAL.Component(ICAL.parse(text))
  return calendar.getAllSubcomponents('vevent').flatMap(component => {
    const event = new ICAL.Event(component)
    if (!event.isRecurring())
      return entry(event.summary, event.startDate.toJSDate(), event.endDate.toJSDate())
    const found: string[] = []
    const iterator = event.iterator()
    for (let next = iterator.next(); next && next.toJSDate().getTime() < end; next = iterator.next()) {
      const { startDate, endDate } = event.getOccurrenceDetails(next)
      found.push(...entry(event.summary, startDate.toJSDate(), endDate.toJSDate()))
    }
    return found
  })
}

/** By node-ical, which knows zones by their names. */
function expandByNodeIcal(text: string): string[] {
  return Object.values(nodeIcal.sync.parseICS(text)).flatMap(event => {
    if (event?.type !== 'VEVENT') return []
    const found = nodeIcal.expandRecurringEvent(event, { from: new Date(begin), to: new Date(end) })
    return found.flatMap(({ start, end: until }) => entry(String(event.summary), start, until))
  })
}

describe.each([
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/St_Johns',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
])('a feed in %s', timezone => {
  it('is expanded by two libraries to the occurrences of five years', async () => {
    const { feed, ours } = await calendarIn(timezone)
    expect(ours.length).toBeGreaterThan(2_500)
    expect(expandByIcalJs(feed).toSorted()).toEqual(ours)
    expect(expandByNodeIcal(feed).toSorted()).toEqual(ours)
  })
})

/** An occurrence that clocks skip, where the day of its rule is another one than its own, too. */
describe.each([
  ['Europe/Berlin', 'daily', [], '2027-03-20T02:15:00', '2027-03-28T01:15:00Z', '20270328T021500'],
  ['America/New_York', 'weekly', [0], '2027-03-01T02:45:00', '2027-03-14T07:45:00Z', '20270314T024500'],
  ['America/St_Johns', 'monthly', [], '2027-02-14T02:00:00', '2027-03-14T05:30:00Z', '20270314T020000'],
  ['Australia/Lord_Howe', 'daily', [], '2027-10-01T02:10:00', '2027-10-02T15:40:00Z', '20271003T021000'],
  ['Antarctica/Troll', 'daily', [], '2027-03-20T01:30:00', '2027-03-28T01:30:00Z', '20270328T013000'],
  ['Asia/Beirut', 'daily', [], '2027-03-20T00:30:00', '2027-03-27T22:30:00Z', '20270328T003000'],
  ['America/Nuuk', 'daily', [], '2027-03-20T23:30:00', '2027-03-28T01:30:00Z', '20270327T233000'],
] as const)(
  'in %s, %s, a cancelled occurrence',
  (timezone, recurrence, days, start_time, occurrence, expected) => {
    it('leaves the feed as its rule generates it', async () => {
      const path = `/api/agents/${await makeAgent(app)}/calendar`
      const recurrence_days = days.length === 0 ? {} : { recurrence_days: days }
      const task = { title: 'T', start_time, timezone, recurrence, ...recurrence_days }
      const { body } = await app.call<{ id: string }>('POST', path, { body: task })
      const settled = { occurrence, status: 'cancelled' }
      expect(await app.call('PUT', `${path}/${body.id}`, { body: settled })).toMatchObject({ status: 200 })
      const { url } = (await app.call<{ url: string }>('POST', `${path}/feed`)).body
      const feed = await app.call<string>('GET', url.slice(url.indexOf('/api')))
      expect(feed.body.match(/^EXDATE.*(?=\r)/gm)).toEqual([`EXDATE;TZID=${timezone}:${expected}`])
      expect(feed.body).toMatch(new RegExp(`^DTSTART.*${expected.slice(8)}\r`, 'm'))
    })
  },
)

it('a series whose first occurrence is skipped by clocks begins in the form of its rule', async () => {
  const path = `/api/agents/${await makeAgent(app)}/calendar`
  const rule = { recurrence: 'weekly', recurrence_days: [0], timezone: 'Europe/London' }
  const times = { start_time: '2027-03-27T01:30:00', end_time: '2027-03-27T02:00:00' }
  expect(await app.call('POST', path, { body: { title: 'T', ...times, ...rule } })).toMatchObject({
    status: 201,
  })
  const { url } = (await app.call<{ url: string }>('POST', `${path}/feed`)).body
  const feed = await app.call<string>('GET', url.slice(url.indexOf('/api')))
  expect(feed.body).toContain('DTSTART;TZID=Europe/London:20270328T013000\r\n')
  expect(feed.body).toContain('DTEND;TZID=Europe/London:20270328T030000\r\n')
})

describe('lines', () => {
  it('are folded at 75 octets, between characters, and read as they were', () => {
    const text = `${'ä😀x'.repeat(60)}; a, b\\c\nnext\r\nlast`
    const lines = toText(['BEGIN:VCALENDAR', `SUMMARY:${escapeText(text)}`, 'END:VCALENDAR'])
    for (const line of lines.split('\r\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75)
    expect(lines.endsWith('\r\n')).toBe(true)
    expect(lines.isWellFormed()).toBe(true)
    const read = new ICAL.Component(ICAL.parse(lines)).getFirstPropertyValue('summary')
    expect(read).toBe(text.replace('\r\n', '\n'))
  })

  it('have no control characters, and nothing that begins another line', () => {
    expect(escapeText('a\u0000b\u0007\u2028c\ud800')).toBe('a b  c\ufffd')
    expect(toText([`SUMMARY:${escapeText('x\r\nBEGIN:VALARM')}`])).toBe('SUMMARY:x\\nBEGIN:VALARM\r\n')
  })
})
