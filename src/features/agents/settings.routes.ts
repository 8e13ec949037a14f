import type { App } from '#platform/http/app.ts'
import { routesBelow } from '#platform/http/routes.ts'
import { settingsAnswerSchema, settingsChangesSchema } from './settings.schema.ts'
import type { SettingsService } from './settings.service.ts'

export function registerSettingsRoutes(app: App, settings: SettingsService): void {
  const routes = routesBelow(app, '/api/agents/:id', 'Agents')

  routes.get('/settings', {
    name: 'getSettings',
    summary: "Get an agent's settings, credentials and warnings",
    answer: settingsAnswerSchema,
    handle: ({ params }) => settings.get(params.id),
  })
  routes.update('/settings', {
    name: 'updateSettings',
    summary: "Update an agent's settings and credentials",
    audit: 'refusals',
    body: settingsChangesSchema,
    answer: settingsAnswerSchema,
    handle: ({ params, body }) => settings.update(params.id, body),
  })
}
