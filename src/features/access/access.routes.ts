import type { App } from '#platform/http/app.ts'
import { routesBelow } from '#platform/http/routes.ts'
import {
  addedAdminSchema,
  adminChangesSchema,
  adminSchema,
  newAdminSchema,
  ownAgentSchema,
} from './access.schema.ts'
import type { AccessService } from './access.service.ts'

export function registerAccessRoutes(app: App, access: AccessService): void {
  routesBelow(app, '/api/auth/agents', 'Agents').list('', {
    name: 'listMyAgents',
    summary: "List the caller's agents with the role on each",
    access: 'anyone',
    rows: 'agents',
    of: ownAgentSchema,
    handle: request => access.listOwnAgents(request, request.query),
  })

  const routes = routesBelow(app, '/api/agents/:id/admins', 'Agents')

  routes.list('', {
    name: 'listAdmins',
    summary: 'List the users with a role on the agent',
    opensAgent: false,
    rows: 'admins',
    of: adminSchema,
    // The public reads "default", but not the addresses of people.
    handle: async request =>
      access.listAdmins(
        (await access.hasRole(request.params.id, request)) ? request.params.id : '',
        request.query,
      ),
  })
  routes.create('', {
    name: 'addAdmin',
    summary: 'Add a user with a role on the agent',
    access: 'owner',
    byKey: false,
    audit: 'refusals',
    opensAgent: false,
    body: newAdminSchema,
    answer: addedAdminSchema,
    handle: ({ params, body }) => access.addAdmin(params.id, body),
  })
  routes.update('/:adminId', {
    name: 'updateAdmin',
    summary: 'Update what a user may spend on the agent',
    access: 'owner',
    byKey: false,
    audit: 'refusals',
    opensAgent: false,
    body: adminChangesSchema,
    answer: adminSchema,
    current: ({ params }) => access.findAdmin(params.id, params.adminId),
    handle: ({ params, body }) => access.updateAdmin(params.id, params.adminId, body),
  })
  routes.remove('/:adminId', {
    name: 'removeAdmin',
    summary: "Remove a user's role on the agent",
    access: 'owner',
    byKey: false,
    audit: 'refusals',
    opensAgent: false,
    handle: ({ params }) => access.removeAdmin(params.id, params.adminId),
  })
}
