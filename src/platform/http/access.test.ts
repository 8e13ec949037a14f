import type { FastifyPluginAsync, RouteShorthandOptions } from 'fastify'
import { describe, expect, it } from 'vitest'
import { bareServer } from '#test/support/bare-server.ts'
import { AccessDenied } from '../errors.ts'
import { registerAccess, requireDeclarations } from './access.ts'
import type { Access, App } from './app.ts'

const whole = { area: 'generic', access: 'open', limit: 'general' } as const

describe('a route', () => {
  it.each<[missing: string, config: RouteShorthandOptions['config']]>([
    ['all of it', undefined],
    ['an empty one', {}],
    ['its area', { access: 'open', limit: 'general' }],
    ['its access', { area: 'generic', limit: 'general' }],
    ['its limit', { area: 'generic', access: 'open' }],
  ])('cannot be registered without its declaration: %s', async (_missing, config) => {
    const register = (app: App) => {
      app.route({
        method: 'POST',
        url: '/api/x',
        ...(config === undefined ? {} : { config }),
        handler: async () => ({}),
      })
    }
    await expect(bareServer({ routes: register })).rejects.toThrow(
      'POST /api/x must declare config: { area, access, limit }.',
    )
  })

  it('cannot be registered without it inside a scope either', async () => {
    const scoped: FastifyPluginAsync = async scope => {
      scope.get('/api/hidden', async () => ({}))
    }
    const register = async (app: App) => {
      await app.register(scoped)
    }
    await expect(bareServer({ routes: register })).rejects.toThrow('GET /api/hidden must declare')
  })

  it('is listed as it was declared, once for each method', async () => {
    let declared: ReturnType<typeof requireDeclarations> = []
    await bareServer({
      routes: app => {
        declared = requireDeclarations(app)
        app.route({ method: ['PUT', 'DELETE'], url: '/api/x', config: whole, handler: async () => ({}) })
        app.get('/api/y', { config: whole }, async () => ({}))
      },
    })
    expect(declared.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'PUT /api/x',
      'DELETE /api/x',
      'GET /api/y',
      'HEAD /api/y',
    ])
    expect(declared[0]?.config).toEqual(whole)
  })
})

describe('access', () => {
  async function served(decide: () => void) {
    const asked: Access[] = []
    let handled = 0
    const server = await bareServer({
      routes: app => {
        registerAccess(app, {
          async decide(_request, _reply, access) {
            asked.push(access)
            decide()
          },
          async decideAgain() {},
        })
        for (const access of ['open', 'anyone', 'admin'] as const)
          app.route({
            method: 'POST',
            url: `/api/${access}`,
            config: { ...whole, access },
            handler: async () => {
              handled += 1
              return {}
            },
          })
      },
    })
    const send = async (url: string, options: object = {}) =>
      (await server.call({ method: 'POST', url, ...options })).statusCode
    return { send, asked, handled: () => handled }
  }

  const deny = () => {
    throw new AccessDenied('No.')
  }

  it('is decided by what the route declares, and is nobody’s business on an open one', async () => {
    const { send, asked } = await served(() => {})
    for (const url of ['/api/open', '/api/anyone', '/api/admin']) expect(await send(url)).toBe(200)
    expect(asked).toEqual(['anyone', 'admin'])
  })

  it('is decided before the body is read', async () => {
    const { send, handled } = await served(deny)
    const json = { headers: { 'content-type': 'application/json' } }
    expect(await send('/api/admin', { ...json, payload: '{ no JSON' })).toBe(403)
    expect(await send('/api/admin', { ...json, payload: 'x'.repeat(2_000_000) })).toBe(403)
    expect(await send('/api/admin', { headers: { 'content-type': 'text/plain' }, payload: 'x' })).toBe(403)
    expect(handled()).toBe(0)
  })

  it('is decided where there is no route, so that a bad token is refused on every path of the API', async () => {
    const { send, asked } = await served(() => {})
    expect(await send('/api/nothing')).toBe(404)
    expect(await send('/favicon.ico')).toBe(404)
    expect(asked).toEqual(['anyone'])
  })

  it('is not decided for a preflight, which carries no credentials', async () => {
    const { send, asked } = await served(deny)
    expect(await send('/api/admin', { method: 'OPTIONS' })).toBe(204)
    expect(asked).toEqual([])
  })
})
