import type { App } from '#platform/http/app.ts'
import { credentialListSchema, credentialValuesSchema } from './credentials.schema.ts'
import type { CredentialsService } from './credentials.service.ts'
import { clusterPath } from './tools.schema.ts'

export function registerCredentialRoutes(app: App, credentials: CredentialsService): void {
  app.route({
    method: 'GET',
    url: '/api/agents/:id/tools/cluster/:clusterName/credentials',
    config: { area: 'generic', access: 'viewer', limit: 'general', operationId: 'listClusterCredentials' },
    schema: {
      summary: 'What the tools of a cluster have to show to the service that they call',
      tags: ['Tools'],
      params: clusterPath,
      response: { 200: credentialListSchema },
    },
    handler: async request => ({
      success: true,
      data: await credentials.list(request.agent, request.params.clusterName),
    }),
  })

  app.route({
    method: 'PUT',
    url: '/api/agents/:id/tools/cluster/:clusterName/credentials',
    config: { area: 'generic', access: 'admin', limit: 'general', operationId: 'setClusterCredentials' },
    schema: {
      summary: 'Fill credentials in, for the servers that the tools of the cluster call now',
      tags: ['Tools'],
      params: clusterPath,
      body: credentialValuesSchema,
      response: { 200: credentialListSchema },
    },
    handler: async request => ({
      success: true,
      data: await credentials.fill(request.agent, request.params.clusterName, request.body),
    }),
  })
}
