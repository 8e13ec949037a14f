import { Type } from 'typebox'
import { conflict } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { routesBelow } from '#platform/http/routes.ts'
import type { BrowserService } from './browser.service.ts'
import type { LiveLinks } from './live/live-links.ts'
import type { ProfilesService } from './profiles/profiles.service.ts'
import type { Recordings } from './recordings/recordings.service.ts'
import { isOpen } from './sessions/session-status.ts'
import {
  createdSessionSchema,
  linkSchema,
  listedSessionSchema,
  newSessionSchema,
  profileName,
  profileSchema,
  shownSessionSchema,
} from './sessions/sessions.schema.ts'

interface Services {
  browser: BrowserService
  profiles: ProfilesService
  links: LiveLinks
  recordings: Recordings
}

export function registerBrowserRoutes(app: App, services: Services): void {
  registerSessions(app, services)
  registerProfiles(app, services.profiles)
}

function registerSessions(app: App, { browser, links, recordings }: Services): void {
  const routes = routesBelow(app, '/api/agents/:id/browser', 'Browser')

  routes.list('', {
    name: 'listBrowserSessions',
    summary: 'List browser sessions, including those that have ended',
    limit: 'browser',
    rows: 'sessions',
    of: listedSessionSchema,
    handle: ({ agent, query }) => browser.list(agent, query),
  })
  routes.create('', {
    name: 'createBrowserSession',
    summary: 'Open an isolated browser session',
    limit: 'browser',
    body: newSessionSchema,
    answer: createdSessionSchema,
    async handle({ agent, body }) {
      const { id, status, created_at } = await browser.create(agent, body)
      const { url } = await links.make({ sessionId: id, right: 'watch' })
      return { id, status, live_view_url: url, created_at }
    },
  })
  routes.remove('', {
    name: 'endBrowserSession',
    summary: 'End a browser session',
    description: 'It stays in the list of sessions.',
    limit: 'browser',
    atHolder: true,
    query: Type.Object({ id: Type.String({ description: 'The id of the session.' }) }),
    handle: ({ agent, query }) => browser.remove(agent, query.id),
  })
  routes.get('/:sessionId', {
    name: 'getBrowserSession',
    summary: 'Get a browser session',
    limit: 'browser',
    answer: shownSessionSchema,
    async handle({ agent, params: { sessionId } }) {
      const session = await browser.get(agent, sessionId)
      return { ...session, recording: (await recordings.find(agent, sessionId)) ?? null }
    },
  })
  routes.get('/:sessionId/live-view', {
    name: 'getBrowserLiveView',
    summary: 'Get a link to watch a browser session',
    description: 'Anyone with the link can watch the session or, once it has ended, its recording.',
    limit: 'browser',
    answer: linkSchema,
    async handle({ agent, params }) {
      const { id, status } = await browser.get(agent, params.sessionId)
      if (isOpen(status)) return await links.make({ sessionId: id, right: 'watch' })
      if (await recordings.has(agent, id)) return await links.make({ sessionId: id, right: 'replay' })
      throw conflict(`The browser session has ended (${status}) and recorded nothing. Open a new one.`)
    },
  })
}

function registerProfiles(app: App, profiles: ProfilesService): void {
  const routes = routesBelow(app, '/api/agents/:id/browser/profiles', 'Browser')

  routes.list('', {
    name: 'listBrowserProfiles',
    summary: 'List browser profiles, without their content',
    description: 'A profile keeps logins and other data of sites between sessions.',
    limit: 'browser',
    rows: 'profiles',
    of: profileSchema,
    handle: ({ agent, query }) => profiles.list(agent, query),
  })
  routes.remove('/:profileName', {
    name: 'deleteBrowserProfile',
    summary: 'Delete a browser profile with its logins',
    limit: 'browser',
    parameters: { profileName },
    handle: ({ agent, params }) => profiles.remove(agent, params.profileName),
  })
}
