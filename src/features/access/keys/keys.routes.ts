import type { FastifyContextConfig, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { routesBelow } from '#platform/http/routes.ts'
import type { KeyScope } from './keys.repository.ts'
import {
  agentKeyChangesSchema,
  type KeyChanges,
  keySchema,
  keyWithSecretSchema,
  type NewKey,
  newAgentKeySchema,
  newPersonalKeySchema,
  personalKeyChangesSchema,
  rotationSchema,
} from './keys.schema.ts'
import type { KeysService } from './keys.service.ts'

/** The differences between the two kinds of keys. */
interface Kind {
  base: '/api/agents/:id/keys' | '/api/auth/keys'
  /** Prefix of operation ids. */
  prefix: 'Agent' | 'My'
  whose: string
  config: Pick<FastifyContextConfig, 'access' | 'opensAgent'>
  created: TSchema
  changed: TSchema
  scopeOf(request: FastifyRequest): KeyScope
}

const kinds: readonly Kind[] = [
  {
    base: '/api/agents/:id/keys',
    prefix: 'Agent',
    whose: 'of the agent',
    config: { access: 'admin', opensAgent: false },
    created: newAgentKeySchema,
    changed: agentKeyChangesSchema,
    scopeOf: ({ params }) => ({ agentId: (params as { id: string }).id }),
  },
  {
    base: '/api/auth/keys',
    prefix: 'My',
    whose: 'of the caller',
    config: { access: 'user' },
    created: newPersonalKeySchema,
    changed: personalKeyChangesSchema,
    scopeOf: ({ caller: { user } }) => ({ person: user?.email ?? '' }),
  },
]

export function registerKeyRoutes(app: App, keys: KeysService): void {
  for (const kind of kinds) register(app, keys, kind)
}

function register(app: App, keys: KeysService, kind: Kind): void {
  const { base, prefix, whose, created, changed } = kind
  const routes = routesBelow(app, base, 'API keys')
  const config = { ...kind.config, byKey: false, audit: 'refusals' } as const
  const owner = (request: FastifyRequest) => ({ scope: kind.scopeOf(request), by: request })

  routes.list('', {
    name: `list${prefix}Keys`,
    summary: `List API keys ${whose}`,
    ...config,
    rows: 'keys',
    of: keySchema,
    handle: request => keys.list(owner(request), request.query),
  })
  routes.create('', {
    name: `create${prefix}Key`,
    summary: `Create an API key ${whose}`,
    ...config,
    description: 'Only this answer contains the key. The rights of its creator bound those of the key.',
    body: created,
    answer: keyWithSecretSchema,
    handle: request => keys.create(owner(request), request.body as NewKey),
  })
  routes.update('/:keyId', {
    name: `update${prefix}Key`,
    summary: `Update an API key ${whose}`,
    ...config,
    body: changed,
    answer: keySchema,
    current: request => keys.get(owner(request), request.params.keyId),
    handle: request => keys.update(owner(request), request.params.keyId, request.body as KeyChanges),
  })
  routes.remove('/:keyId', {
    name: `revoke${prefix}Key`,
    summary: `Delete an API key ${whose}`,
    ...config,
    description: 'It is refused from now on, and what it has under way ends.',
    handle: request => keys.revoke(owner(request), request.params.keyId),
  })
  routes.post('/:keyId/rotate', {
    name: `rotate${prefix}Key`,
    summary: `Replace an API key ${whose}`,
    ...config,
    description:
      'Only this answer contains the new key. The former one is refused at once, or after `overlap_hours`.',
    body: rotationSchema,
    answer: keyWithSecretSchema,
    handle: request => keys.rotate(owner(request), request.params.keyId, request.body.overlap_hours ?? 0),
  })
}
