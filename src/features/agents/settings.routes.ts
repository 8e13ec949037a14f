import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { settingsAnswerSchema, settingsChangesSchema } from './settings.schema.ts'
import type { SettingsService } from './settings.service.ts'

export function registerSettingsRoutes(app: App, settings: SettingsService): void {
  app.route({
    method: 'PUT',
    url: '/api/agents/:id/settings',
    config: { area: 'generic', access: 'admin', limit: 'general', operationId: 'updateSettings' },
    schema: {
      summary: "Change an agent's settings and credentials",
      tags: ['Agents'],
      params: Type.Object({ id: Type.String() }),
      body: settingsChangesSchema,
      response: { 200: settingsAnswerSchema },
    },
    handler: request => settings.update(request.params.id, request.body),
  })
}
