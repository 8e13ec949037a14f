import { EventEmitter } from 'node:events'
import type { BrowserContext } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { watchOrigins } from './collect-state.ts'
import {
  bounded,
  type Entries,
  entriesOf,
  itemKey,
  type KeptState,
  merged,
  stateOf,
} from './profile-entries.ts'

const site = (origin: string, items: Record<string, string>) => ({
  origin,
  localStorage: Object.entries(items).map(([name, value]) => ({ name, value })),
})
const state = (...origins: KeptState['origins']): KeptState => ({ cookies: [], origins })

describe('a profile that is full', () => {
  it('leaves out what sites that fill it have stored, not what others have', () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [String(at), '']))
    const all = entriesOf(
      state(site('https://fills.example', many), site('https://bank.example', { token: 'x'.repeat(500) })),
    )
    const kept = bounded(all, 3000)
    expect(kept.get(itemKey('https://bank.example', 'token'))?.leftOut).toBeUndefined()
    expect([...kept.values()].some(({ leftOut }) => leftOut !== undefined)).toBe(true)
  })

  it('leaves out origins of the site that has the most, since each of them delays the next session', () => {
    const farm = Array.from({ length: 400 }, (_, at) =>
      site(`https://s${at}.fills.example:${at + 1}`, { a: '' }),
    )
    const bank = site('https://www.bank.example', { token: 'x'.repeat(500) })
    const { origins } = stateOf(bounded(entriesOf(state(...farm, bank)), 1e6))
    expect(origins).toHaveLength(300)
    expect(origins).toContainEqual(expect.objectContaining(bank))
  })
})

describe('what was left out', () => {
  it('is named up to a limit', () => {
    const names = Array.from({ length: 5000 }, (_, at) => itemKey('https://a.example', String(at)))
    expect(bounded(new Map(names.map(key => [key, { value: '', leftOut: 'x' }])), 3000).size).toBe(1000)
  })

  const key = itemKey('https://a.example', 'large')
  const noted: Entries = new Map([[key, { value: '', leftOut: 'large' }]])
  const found = entriesOf(state(site('https://a.example', { large: 'x' })))

  it.each([
    ['is no longer named once the site does not have it', noted, noted, {}],
    ['stays as another session has kept it meanwhile', noted, found, { large: 'x' }],
  ])('%s', (_name, base, theirs, items) => {
    const all = merged(base, new Map(), theirs)
    expect(stateOf(all)).toEqual({
      leftOut: {},
      cookies: [],
      origins:
        Object.keys(items).length > 0 ? [expect.objectContaining(site('https://a.example', items))] : [],
    })
  })
})

it('origins of tabs are read before those of frames, such as of advertisements', () => {
  const page = Object.assign(new EventEmitter(), { frames: () => [] })
  const context = Object.assign(new EventEmitter(), { pages: () => [page] })
  const origins = watchOrigins(context as unknown as BrowserContext)
  for (const [url, parent] of [
    ['https://ad.example/1', {}],
    ['https://shop.example/', null],
    ['about:blank', null],
    ['https://shop.example/frame', {}],
  ])
    page.emit('framenavigated', { url: () => url, parentFrame: () => parent })
  expect(origins()).toEqual(['https://shop.example', 'https://ad.example'])
})
