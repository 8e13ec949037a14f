import { describe, expect, it } from 'vitest'
import { compareMarkers, compareRoutes, documentedForm, routeOf } from './compare.ts'

function get(url: string, limit = 'general') {
  return { method: 'GET', url, config: { limit } }
}

const noDifference = { missing: [], early: [], undocumented: [], wrongLimit: [] }

describe('routeOf', () => {
  it('cuts off the query of a row', () => {
    expect(routeOf('DELETE /api/things?id={thingId}')).toBe('DELETE /api/things')
    expect(routeOf('GET /api/things/{id}')).toBe('GET /api/things/{id}')
  })
})

describe('documentedForm', () => {
  it.each([
    ['/api/things/:id/parts/:partId', 'GET /api/things/{id}/parts/{partId}'],
    ['/docs/', 'GET /docs'],
    ['/docs/*', 'GET /docs/*'],
    ['/', 'GET /'],
  ])('writes %s as %s', (url, form) => {
    expect(documentedForm({ method: 'GET', url })).toBe(form)
  })
})

describe('compareRoutes', () => {
  const documented = [
    { route: 'GET /api/things/{id}', built: true, limit: 'general' },
    { route: 'GET /docs/*', built: true },
    { route: 'GET /api/parts', built: false, limit: 'bulk' },
  ]
  const routes = [get('/api/things/:id'), get('/docs/script.js')]

  it('finds no difference where there is none', () => {
    expect(compareRoutes(documented, routes)).toEqual(noDifference)
  })

  it('leaves HEAD and OPTIONS out', () => {
    const silent = ['HEAD', 'OPTIONS'].map(method => ({ ...get('/api/elsewhere'), method }))
    expect(compareRoutes(documented, [...routes, ...silent])).toEqual(noDifference)
  })

  it('names what is built but has no route', () => {
    expect(compareRoutes(documented, [])).toEqual({
      ...noDifference,
      missing: ['GET /api/things/{id}', 'GET /docs/*'],
    })
  })

  it('does not take another method or another parameter name for the route', () => {
    const others = [
      { ...get('/api/things/:id'), method: 'PUT' },
      get('/api/things/:thingId'),
      ...routes.slice(1),
    ]
    expect(compareRoutes(documented, others)).toEqual({
      ...noDifference,
      missing: ['GET /api/things/{id}'],
      undocumented: ['PUT /api/things/{id}', 'GET /api/things/{thingId}'],
    })
  })

  it('names what has a route although it is listed as not built', () => {
    expect(compareRoutes(documented, [...routes, get('/api/parts', 'bulk')])).toEqual({
      ...noDifference,
      early: ['GET /api/parts'],
    })
  })

  it('names a route that nothing documents', () => {
    expect(compareRoutes(documented, [...routes, get('/api/things')])).toEqual({
      ...noDifference,
      undocumented: ['GET /api/things'],
    })
  })

  it('names a route that counts against another limit', () => {
    expect(compareRoutes(documented, [get('/api/things/:id', 'chat'), ...routes.slice(1)])).toEqual({
      ...noDifference,
      wrongLimit: ['GET /api/things/{id} counts as chat, not as general'],
    })
  })
})

describe('compareMarkers', () => {
  const expected = ['[a]', '[b]', '[c]']

  it('finds nothing where every marker is named or pending', () => {
    const named = new Set(['[a]', '[b]'])
    expect(compareMarkers({ expected, pending: new Set(['[c]']), named })).toEqual({
      untested: [],
      stale: [],
    })
  })

  it('names what no test names', () => {
    expect(compareMarkers({ expected, pending: new Set(['[c]']), named: new Set(['[b]']) })).toEqual({
      untested: ['[a]'],
      stale: [],
    })
  })

  it('names what a test names although it is listed as not built', () => {
    expect(compareMarkers({ expected, pending: new Set(['[c]']), named: new Set(expected) })).toEqual({
      untested: [],
      stale: ['[c]'],
    })
  })
})
