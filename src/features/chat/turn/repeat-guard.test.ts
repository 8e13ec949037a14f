import { describe, expect, it } from 'vitest'
import { createRepeatGuard } from './repeat-guard.ts'

describe('the repeat guard', () => {
  it.each<[what: string, first: unknown, second: unknown]>([
    ['the same arguments', { query: 'a', limit: 3 }, { query: 'a', limit: 3 }],
    ['the same arguments in another order', { query: 'a', limit: 3 }, { limit: 3, query: 'a' }],
    ['another order deep inside', { filter: { a: [{ x: 1, y: 2 }] } }, { filter: { a: [{ y: 2, x: 1 }] } }],
    ['no arguments', {}, {}],
  ])('takes %s for a repeat', (_what, first, second) => {
    const guard = createRepeatGuard()
    expect(guard.judge('search', first)).toBe('new')
    expect(guard.judge('search', second)).toBe('repeated')
  })

  it.each<[what: string, first: unknown, second: unknown]>([
    ['other arguments', { query: 'a' }, { query: 'b' }],
    ['one argument more', { query: 'a' }, { query: 'a', page: 1 }],
    ['another order in a list', { words: ['a', 'b'] }, { words: ['b', 'a'] }],
    ['a number instead of its text', { page: 1 }, { page: '1' }],
    ['null instead of nothing', { page: null }, {}],
  ])('takes %s for a new call', (_what, first, second) => {
    const guard = createRepeatGuard()
    guard.judge('search', first)
    expect(guard.judge('search', second)).toBe('new')
  })

  it('tells tools apart, also where name and arguments run together', () => {
    const guard = createRepeatGuard()
    guard.judge('search', { query: 'a' })
    expect(guard.judge('browse', { query: 'a' })).toBe('new')
    expect(guard.judge('search {"query":"a"}', {})).toBe('new')
  })

  it('remembers a call however many others came between', () => {
    const guard = createRepeatGuard()
    for (let page = 0; page < 5; page += 1) guard.judge('search', { page })
    expect(guard.judge('search', { page: 0 })).toBe('repeated')
  })

  it('ends tool use at the third repeat, whichever calls are repeated', () => {
    const guard = createRepeatGuard()
    guard.judge('search', { query: 'a' })
    guard.judge('search', { query: 'b' })
    expect(guard.judge('search', { query: 'a' })).toBe('repeated')
    expect(guard.judge('search', { query: 'b' })).toBe('repeated')
    expect(guard.judge('search', { query: 'c' })).toBe('new')
    expect(guard.judge('search', { query: 'a' })).toBe('ended')
    expect(guard.judge('search', { query: 'b' })).toBe('ended')
  })
})

describe('a tool that observes something changing', () => {
  const look = (guard: ReturnType<typeof createRepeatGuard>) => guard.judge('browser_read', { tab: 1 }, true)

  it('may be called again after any other call', () => {
    const guard = createRepeatGuard()
    expect(look(guard)).toBe('new')
    guard.judge('browser_click', { selector: '#next' }, true)
    expect(look(guard)).toBe('new')
    guard.judge('search', { query: 'a' })
    expect(look(guard)).toBe('new')
  })

  it('repeats when it is the very next call', () => {
    const guard = createRepeatGuard()
    expect(look(guard)).toBe('new')
    expect([look(guard), look(guard), look(guard)]).toEqual(['repeated', 'repeated', 'ended'])
  })

  it('may be called again after a call that was itself a repeat', () => {
    const guard = createRepeatGuard()
    guard.judge('search', { query: 'a' })
    look(guard)
    expect(guard.judge('search', { query: 'a' })).toBe('repeated')
    expect(look(guard)).toBe('new')
  })
})
