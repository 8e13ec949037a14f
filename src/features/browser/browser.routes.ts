import { Type } from 'typebox'
import { conflict } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { listParameters } from '#platform/http/lists/list-query.ts'
import { successSchema } from '#platform/http/responses/answers.ts'
import {
  createdSessionSchema,
  linkSchema,
  newSessionSchema,
  profileListSchema,
  profileName,
  sessionListSchema,
  shownSessionSchema,
} from './browser.schema.ts'
import type { BrowserService } from './browser.service.ts'
import type { LiveLinks } from './live/live-links.ts'
import type { ProfilesService } from './profiles/profiles.service.ts'
import type { Recordings } from './recordings/recordings.service.ts'
import { isOpen } from './session-status.ts'

const agentPath = Type.Object({ id: Type.String() })
const sessionPath = Type.Object({ id: Type.String(), sessionId: Type.String() })
const profilePath = Type.Object({ id: Type.String(), profileName })

const reading = { area: 'generic', access: 'viewer', limit: 'browser' } as const
const changing = { ...reading, access: 'admin' } as const
const tags = ['Browser']

interface Services {
  browser: BrowserService
  profiles: ProfilesService
  links: LiveLinks
  recordings: Recordings
}

export function registerBrowserRoutes(app: App, services: Services): void {
  registerSessions(app, services)
  registerLinks(app, services)
  registerProfiles(app, services.profiles)
}

function registerSessions(app: App, { browser, links, recordings }: Services): void {
  const url = '/api/agents/:id/browser'

  app.route({
    method: 'GET',
    url,
    config: { ...reading, operationId: 'listBrowserSessions' },
    schema: {
      summary: 'Browser sessions, also those that have ended',
      tags,
      params: agentPath,
      querystring: Type.Object(listParameters),
      response: { 200: sessionListSchema },
    },
    handler: async request => {
      const { rows, meta } = await browser.list(request.agent, request.query)
      return { sessions: rows, meta }
    },
  })

  app.route({
    method: 'POST',
    url,
    config: { ...changing, operationId: 'createBrowserSession' },
    schema: {
      summary: 'Open an isolated browser session',
      tags,
      params: agentPath,
      body: newSessionSchema,
      response: { 201: createdSessionSchema },
    },
    handler: async (request, reply) => {
      const { id, status, created_at } = await browser.create(request.agent, request.body)
      const { url } = await links.make({ sessionId: id, right: 'watch' })
      return reply.code(201).send({ id, status, live_view_url: url, created_at })
    },
  })

  app.route({
    method: 'DELETE',
    url,
    config: { ...changing, atHolder: true, operationId: 'endBrowserSession' },
    schema: {
      summary: 'End a browser session; it stays listed',
      tags,
      params: agentPath,
      querystring: Type.Object({ id: Type.String({ description: 'The id of the session.' }) }),
      response: { 200: successSchema },
    },
    handler: async request => {
      await browser.remove(request.agent, request.query.id)
      return { success: true }
    },
  })

  app.route({
    method: 'GET',
    url: `${url}/:sessionId`,
    config: { ...reading, operationId: 'getBrowserSession' },
    schema: {
      summary: 'A browser session',
      tags,
      params: sessionPath,
      response: { 200: shownSessionSchema },
    },
    handler: async ({ agent, params: { sessionId } }) => {
      const session = await browser.get(agent, sessionId)
      return { ...session, recording: (await recordings.find(agent, sessionId)) ?? null }
    },
  })
}

function registerLinks(app: App, { browser, links, recordings }: Services): void {
  app.route({
    method: 'GET',
    url: '/api/agents/:id/browser/:sessionId/live-view',
    config: { ...reading, operationId: 'getBrowserLiveView' },
    schema: {
      summary:
        'A link with which anybody can watch a browser session, or what it has recorded once it has ended',
      tags,
      params: sessionPath,
      response: { 200: linkSchema },
    },
    handler: async request => {
      const { id, status } = await browser.get(request.agent, request.params.sessionId)
      if (isOpen(status)) return await links.make({ sessionId: id, right: 'watch' })
      if (await recordings.has(request.agent, id)) return await links.make({ sessionId: id, right: 'replay' })
      throw conflict(`The browser session has ended (${status}) and recorded nothing. Open a new one.`)
    },
  })
}

function registerProfiles(app: App, profiles: ProfilesService): void {
  const url = '/api/agents/:id/browser/profiles'

  app.route({
    method: 'GET',
    url,
    config: { ...reading, operationId: 'listBrowserProfiles' },
    schema: {
      summary: 'Logins and other data of sites that are kept between sessions, without their content',
      tags,
      params: agentPath,
      querystring: Type.Object(listParameters),
      response: { 200: profileListSchema },
    },
    handler: async request => {
      const { rows, meta } = await profiles.list(request.agent, request.query)
      return { profiles: rows, meta }
    },
  })

  app.route({
    method: 'DELETE',
    url: `${url}/:profileName`,
    config: { ...changing, operationId: 'deleteBrowserProfile' },
    schema: {
      summary: 'Forget a profile, and with it its logins',
      tags,
      params: profilePath,
      response: { 200: successSchema },
    },
    handler: async request => {
      await profiles.remove(request.agent, request.params.profileName)
      return { success: true }
    },
  })
}
