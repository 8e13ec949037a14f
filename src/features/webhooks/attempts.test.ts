import { describe, expect, it } from 'vitest'
import { type EndedAttempt, judge } from './attempts.ts'

const second = 1000
const hour = 3600 * second
const now = Date.parse('2026-01-01T00:00:00.000Z')

function judged(attempt: Partial<EndedAttempt>) {
  const first = { status: 500, attempts: 1, isOnly: false, failingSince: null, now, random: 0.5 }
  const { next, ...verdict } = judge({ ...first, ...attempt })
  return { ...verdict, pause: next === null ? null : (next - now) / second }
}

describe('an attempt', () => {
  it.each([200, 201, 204, 299])(
    'that is answered with %i is the last, and ends a row of failures',
    status => {
      expect(judged({ status, failingSince: now - 6 * 24 * hour })).toEqual({
        status: 'succeeded',
        pause: null,
        failingSince: null,
        disable: null,
      })
    },
  )

  it.each([null, 199, 301, 307, 400, 404, 500])('that is answered with %s is followed by another', status => {
    expect(judged({ status })).toEqual({ status: 'pending', pause: 5, failingSince: now, disable: null })
  })

  it('is followed by another after pauses that grow, for three days, and then by none', () => {
    const pauses = Array.from({ length: 10 }, (_, index) => judged({ attempts: index + 1 }).pause)
    const inHours = [2, 5, 10, 14, 20, 24].map(hours => hours * 3600)
    expect(pauses).toEqual([5, 300, 1800, ...inHours, null])
    expect(judged({ attempts: 10 }).status).toBe('failed')
  })

  it('is followed by another up to a tenth earlier or later', () => {
    expect(judged({ attempts: 2, random: 0 }).pause).toBe(270)
    expect(judged({ attempts: 2, random: 1 }).pause).toBe(330)
  })

  it('that is the only one is followed by none', () => {
    expect(judged({ isOnly: true })).toMatchObject({ status: 'failed', pause: null, disable: null })
  })

  it.each([
    [429, 120 * second, 120],
    [503, 120 * second, 120],
    [503, 48 * hour, 24 * 3600],
    [503, second, 5],
    [429, undefined, 5],
    [500, 120 * second, 5],
  ])('answered with %i that asks for %s ms waits for %i s', (status, retryAfter, pause) => {
    expect(judged({ status, retryAfter })).toMatchObject({ status: 'pending', pause })
  })

  it('answered with 410 disables the webhook', () => {
    expect(judged({ status: 410 })).toMatchObject({
      status: 'failed',
      pause: null,
      disable: expect.stringContaining('410'),
    })
  })

  it('that fails after five days of failures disables the webhook, and not before', () => {
    const days = 5 * 24 * hour
    const failingSince = now - days
    expect(judged({ failingSince })).toMatchObject({ status: 'failed', failingSince })
    expect(judged({ failingSince }).disable).toContain('five days')
    expect(judged({ failingSince: now - days + 1 })).toMatchObject({ status: 'pending', disable: null })
  })
})
