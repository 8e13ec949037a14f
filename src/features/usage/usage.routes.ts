import type { AccessService } from '#features/access/access.service.ts'
import { AccessDenied } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { routesBelow } from '#platform/http/routes.ts'
import { usageQuerySchema, usageSchema } from './usage.schema.ts'
import type { UsageService } from './usage.service.ts'

interface Dependencies {
  usage: UsageService
  access: Pick<AccessService, 'hasRole'>
}

export function registerUsageRoutes(app: App, { usage, access }: Dependencies): void {
  routesBelow(app, '/api/agents/:id/usage', 'Agents').get('', {
    name: 'getUsage',
    summary: 'Get the tokens and costs of an agent',
    access: 'admin',
    opensAgent: false,
    query: usageQuerySchema,
    answer: usageSchema,
    async handle(request) {
      const { params, query } = request
      // The public uses "default", but does not see the addresses of people.
      if (query.group === 'person' && !(await access.hasRole(params.id, request)))
        throw new AccessDenied('Access denied: people are named to those with a role on the agent.')
      return usage.sums(params.id, query)
    },
  })
}
