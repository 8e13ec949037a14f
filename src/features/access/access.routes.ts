import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { successSchema } from '#platform/http/responses/answers.ts'
import { routesBelow } from '#platform/http/routes.ts'
import {
  addedAdminSchema,
  adminChangesSchema,
  adminSchema,
  newAdminSchema,
  ownAgentSchema,
} from './access.schema.ts'
import type { AccessService } from './access.service.ts'
import type { PeopleService } from './people.service.ts'

export function registerAccessRoutes(app: App, access: AccessService, people: PeopleService): void {
  routesBelow(app, '/api/auth/agents', 'Agents').list('', {
    name: 'listMyAgents',
    summary: "List the caller's agents with the role on each",
    access: 'anyone',
    rows: 'agents',
    of: ownAgentSchema,
    handle: request => access.listOwnAgents(request, request.query),
  })

  registerAdminRoutes(app, access, people)
}

function registerAdminRoutes(app: App, access: AccessService, people: PeopleService): void {
  const config = { access: 'owner', byKey: false, audit: 'refusals', opensAgent: false } as const
  const parameters = {
    adminId: Type.String({ description: 'The id of the entry, or the e-mail address of its user.' }),
  }
  const routes = routesBelow(app, '/api/agents/:id/admins', 'Agents')
  const idOf = async (params: { id: string; adminId: string }) =>
    (await access.findAdmin(params.id, params.adminId)).id

  routes.list('', {
    name: 'listAdmins',
    summary: 'List the users with a role on the agent',
    opensAgent: false,
    rows: 'admins',
    of: adminSchema,
    // The public reads "default", but not the e-mail addresses of its admins.
    handle: async request =>
      access.listAdmins(
        (await access.hasRole(request.params.id, request)) ? request.params.id : '',
        request.query,
        (await access.permissionOn(request.params.id, request)) === 'owner',
      ),
  })
  routes.create('', {
    ...config,
    name: 'addAdmin',
    summary: 'Add a user with a role on the agent',
    body: newAdminSchema,
    answer: addedAdminSchema,
    handle: ({ params, body }) => access.addAdmin(params.id, body),
  })
  routes.update('/:adminId', {
    ...config,
    name: 'updateAdmin',
    summary: 'Update what a user may spend on the agent',
    parameters,
    body: adminChangesSchema,
    answer: adminSchema,
    current: ({ params }) => access.findAdmin(params.id, params.adminId),
    handle: async ({ params, body }) => access.updateAdmin(params.id, await idOf(params), body),
  })
  routes.remove('/:adminId', {
    ...config,
    name: 'removeAdmin',
    summary: "Remove a user's role on the agent",
    parameters,
    handle: async ({ params }) => access.removeAdmin(params.id, await idOf(params)),
  })
  routes.post('/:adminId/sign-out', {
    ...config,
    name: 'signOutAdmin',
    summary: 'End all sessions and personal keys of a user',
    description: 'Only for an owner of all agents on which the user has a role. The roles stay.',
    parameters,
    answer: successSchema,
    async handle({ caller, params }) {
      const { email } = await access.findAdmin(params.id, params.adminId)
      await people.signOutBy(caller, email)
      return { success: true }
    },
  })
}
