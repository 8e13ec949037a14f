import type { FastifyRequest } from 'fastify'
import type { App } from '#platform/http/app.ts'
import { routesBelow } from '#platform/http/routes.ts'
import {
  agentKeyChangesSchema,
  keySchema,
  keyWithSecretSchema,
  newAgentKeySchema,
  newPersonalKeySchema,
  personalKeyChangesSchema,
  rotationSchema,
} from './keys.schema.ts'
import type { KeyOwner, KeysService } from './keys.service.ts'

const rotationWords =
  'Only this answer contains the new key. The former one is refused at once, or after `overlap_hours`.'

export function registerKeyRoutes(app: App, keys: KeysService): void {
  registerAgentKeys(app, keys)
  registerPersonalKeys(app, keys)
}

function registerAgentKeys(app: App, keys: KeysService): void {
  const routes = routesBelow(app, '/api/agents/:id/keys', 'API keys')
  const config = { access: 'admin', byKey: false, opensAgent: false, audit: 'refusals' } as const
  const owner = (request: FastifyRequest & { params: { id: string } }): KeyOwner => ({
    scope: { agentId: request.params.id },
    by: request,
  })

  routes.list('', {
    ...{ name: 'listAgentKeys', summary: 'List API keys of the agent', ...config },
    rows: 'keys',
    of: keySchema,
    handle: request => keys.list(owner(request), request.query),
  })
  routes.create('', {
    ...{ name: 'createAgentKey', summary: 'Create an API key of the agent', ...config },
    description: 'Only this answer contains the key. Needs a user, whose rights bound those of the key.',
    body: newAgentKeySchema,
    answer: keyWithSecretSchema,
    handle: request => keys.create(owner(request), request.body),
  })
  routes.update('/:keyId', {
    ...{ name: 'updateAgentKey', summary: 'Update an API key of the agent', ...config },
    body: agentKeyChangesSchema,
    answer: keySchema,
    current: request => keys.get(owner(request), request.params.keyId),
    handle: request => keys.update(owner(request), request.params.keyId, request.body),
  })
  routes.remove('/:keyId', {
    ...{ name: 'revokeAgentKey', summary: 'Delete an API key of the agent', ...config },
    description: 'It is refused from now on, and what it has under way ends.',
    handle: request => keys.revoke(owner(request), request.params.keyId),
  })
  routes.post('/:keyId/rotate', {
    ...{ name: 'rotateAgentKey', summary: 'Replace an API key of the agent', ...config },
    description: rotationWords,
    body: rotationSchema,
    answer: keyWithSecretSchema,
    handle: request => keys.rotate(owner(request), request.params.keyId, request.body.overlap_hours ?? 0),
  })
}

function registerPersonalKeys(app: App, keys: KeysService): void {
  const routes = routesBelow(app, '/api/auth/keys', 'API keys')
  const config = { access: 'user', byKey: false, audit: 'refusals' } as const
  const owner = (request: FastifyRequest): KeyOwner => ({
    scope: { person: request.caller.user?.email ?? '' },
    by: request,
  })

  routes.list('', {
    ...{ name: 'listMyKeys', summary: "List the caller's API keys", ...config },
    rows: 'keys',
    of: keySchema,
    handle: request => keys.list(owner(request), request.query),
  })
  routes.create('', {
    ...{ name: 'createMyKey', summary: 'Create an API key of the caller', ...config },
    description: 'Only this answer contains the key, which may do what its person may, or less.',
    body: newPersonalKeySchema,
    answer: keyWithSecretSchema,
    handle: request => keys.create(owner(request), request.body),
  })
  routes.update('/:keyId', {
    ...{ name: 'updateMyKey', summary: 'Update an API key of the caller', ...config },
    body: personalKeyChangesSchema,
    answer: keySchema,
    current: request => keys.get(owner(request), request.params.keyId),
    handle: request => keys.update(owner(request), request.params.keyId, request.body),
  })
  routes.remove('/:keyId', {
    ...{ name: 'revokeMyKey', summary: 'Delete an API key of the caller', ...config },
    description: 'It is refused from now on, and what it has under way ends.',
    handle: request => keys.revoke(owner(request), request.params.keyId),
  })
  routes.post('/:keyId/rotate', {
    ...{ name: 'rotateMyKey', summary: 'Replace an API key of the caller', ...config },
    description: rotationWords,
    body: rotationSchema,
    answer: keyWithSecretSchema,
    handle: request => keys.rotate(owner(request), request.params.keyId, request.body.overlap_hours ?? 0),
  })
}
