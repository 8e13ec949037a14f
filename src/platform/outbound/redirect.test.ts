import { describe, expect, it } from 'vitest'
import { type Hop, redirectHop, redirectLocation } from './redirect.ts'

function hop(method: string, headers: Record<string, string> = {}): Hop {
  const body = method === 'GET' || method === 'HEAD' ? null : new Uint8Array([1])
  return { url: new URL('https://one.example/a'), method, headers: new Headers(headers), body }
}

const sameOrigin = new URL('https://one.example/b')

describe('the method', () => {
  it.each([
    [301, 'GET', 'GET'],
    [301, 'HEAD', 'HEAD'],
    [301, 'POST', 'GET'],
    [301, 'PUT', 'PUT'],
    [302, 'POST', 'GET'],
    [302, 'DELETE', 'DELETE'],
    [303, 'GET', 'GET'],
    [303, 'HEAD', 'HEAD'],
    [303, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [307, 'POST', 'POST'],
    [308, 'POST', 'POST'],
    [308, 'PUT', 'PUT'],
  ])('after %i to a %s is %s', (status, before, after) => {
    const first = hop(before, { 'content-type': 'text/plain', 'content-language': 'en', accept: 'text/html' })
    const next = redirectHop(first, status, sameOrigin, [])
    const keepsBody = before === after
    expect(next.method).toBe(after)
    expect(next.body).toBe(keepsBody ? first.body : null)
    expect(next.headers.has('content-type')).toBe(keepsBody)
    expect(next.headers.has('content-language')).toBe(keepsBody)
    expect(next.headers.get('accept')).toBe('text/html')
  })
})

describe('credentials', () => {
  const headers = {
    authorization: 'Bearer x',
    cookie: 'a=b',
    'proxy-authorization': 'Basic x',
    'x-api-key': 'x',
    'x-goog-api-key': 'x',
    'x-own': 'secret of the caller',
    accept: 'text/html',
  }

  it.each([
    ['another host', 'https://two.example/a'],
    ['a subdomain', 'https://sub.one.example/a'],
    ['another port', 'https://one.example:8443/a'],
    ['another scheme', 'http://one.example/a'],
  ])('are left behind on the way to %s', (_what, target) => {
    const next = redirectHop(hop('GET', headers), 302, new URL(target), ['X-Own'])
    expect([...next.headers]).toEqual([['accept', 'text/html']])
  })

  it('stay within one origin', () => {
    const next = redirectHop(hop('GET', headers), 302, sameOrigin, ['X-Own'])
    expect(Object.fromEntries(next.headers)).toEqual(headers)
  })

  it('do not come back with a redirect to where they belong', () => {
    const away = redirectHop(hop('GET', headers), 302, new URL('https://two.example/'), ['X-Own'])
    expect([...redirectHop(away, 302, sameOrigin, ['X-Own']).headers]).toEqual([['accept', 'text/html']])
  })
})

describe('the location', () => {
  it.each([301, 302, 303, 307, 308])('counts with status %i', status => {
    expect(redirectLocation({ status, headers: new Headers({ location: '/b' }) })).toBe('/b')
  })

  it.each([200, 201, 300, 304, 305, 404])('does not count with status %i', status => {
    expect(redirectLocation({ status, headers: new Headers({ location: '/b' }) })).toBeUndefined()
  })

  it('is missing where no header gives it', () => {
    expect(redirectLocation({ status: 302, headers: new Headers() })).toBeUndefined()
  })

  it('is read as UTF-8', () => {
    const location = Buffer.from('/é中').toString('latin1')
    expect(redirectLocation({ status: 302, headers: new Headers({ location }) })).toBe('/é中')
  })
})
