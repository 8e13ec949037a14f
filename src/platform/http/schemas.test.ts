/** Schemas are compiled when their route is first used: here all of them are, whichever routes other tests call. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import build from 'fast-json-stringify'
import type { FastifyInstance, RouteOptions } from 'fastify'
import type { TSchema } from 'typebox'
import { expect, it } from 'vitest'
import { buildApp } from '#test/support/build-app.ts'
import { createValidatorCompiler } from './requests/validation.ts'

/** The routes of the service, as they are registered. */
async function registeredRoutes(): Promise<RouteOptions[]> {
  const routes: RouteOptions[] = []
  const note = (message: unknown) =>
    (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', route => {
      routes.push(route)
    })
  subscribe('fastify.initialization', note)
  const app = await buildApp()
  unsubscribe('fastify.initialization', note)
  await app.close()
  return routes
}

type Answer = TSchema | { content: Record<string, { schema: TSchema }> }

function schemasOf(answer: Answer): TSchema[] {
  return 'content' in answer ? Object.values(answer.content).map(({ schema }) => schema) : [answer]
}

it('every schema of every route can be compiled', async () => {
  const compile = createValidatorCompiler()
  const failed: string[] = []
  let compiled = 0
  const attempt = (name: string, work: () => unknown) => {
    try {
      work()
      compiled += 1
    } catch (error) {
      failed.push(`${name}: ${error}`)
    }
  }
  for (const { method, url, schema = {} } of await registeredRoutes()) {
    const route = `${[method].flat().join()} ${url}`
    for (const httpPart of ['body', 'querystring', 'params', 'headers'] as const) {
      const part = schema[httpPart] as TSchema | undefined
      const place = { httpPart, url, method: [method].flat().join() }
      if (part !== undefined) attempt(`${route} ${httpPart}`, () => compile({ schema: part, ...place })({}))
    }
    const answers = Object.entries((schema.response ?? {}) as Record<string, Answer>)
    for (const [status, answer] of answers)
      for (const part of schemasOf(answer)) attempt(`${route} ${status}`, () => build(part))
  }
  expect(failed).toEqual([])
  expect(compiled).toBeGreaterThan(100)
})

it('no answer offers null as one of a union, for which its writer would compile a validator', async () => {
  const answers = (await registeredRoutes()).flatMap(({ method, url, schema }) =>
    Object.entries((schema?.response ?? {}) as Record<string, Answer>).map(([status, answer]) => ({
      name: `${method} ${url} ${status}`,
      text: JSON.stringify(answer),
    })),
  )
  expect(answers.length).toBeGreaterThan(50)
  expect(answers.filter(({ text }) => text.includes(',{"type":"null"}')).map(({ name }) => name)).toEqual([])
})
