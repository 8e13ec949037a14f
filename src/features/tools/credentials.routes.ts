import type { App } from '#platform/http/app.ts'
import { routesBelow } from '#platform/http/routes.ts'
import { credentialListSchema, credentialValuesSchema } from './credentials.schema.ts'
import type { CredentialsService } from './credentials.service.ts'
import { clusterName } from './tools.schema.ts'

export function registerCredentialRoutes(app: App, credentials: CredentialsService): void {
  const routes = routesBelow(app, '/api/agents/:id/tools/cluster/:clusterName', 'Tools')

  routes.get('/credentials', {
    name: 'listClusterCredentials',
    summary: "List the credentials that a cluster's tools need",
    parameters: { clusterName },
    answer: credentialListSchema,
    handle: async ({ agent, params }) => ({
      success: true,
      data: await credentials.list(agent, params.clusterName),
    }),
  })
  routes.update('/credentials', {
    name: 'setClusterCredentials',
    audit: 'refusals',
    summary: 'Set the credentials of a cluster',
    description: 'They are sent only to the servers that the tools of the cluster call now.',
    parameters: { clusterName },
    body: credentialValuesSchema,
    answer: credentialListSchema,
    handle: async ({ agent, params, body }) => ({
      success: true,
      data: await credentials.fill(agent, params.clusterName, body),
    }),
  })
}
