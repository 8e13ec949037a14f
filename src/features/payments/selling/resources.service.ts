import { type Clock, timestamp } from '#platform/clock.ts'
import { conflict, invalid, notFound } from '#platform/errors.ts'
import type { ListParameters } from '#platform/http/lists/list-query.ts'
import type { Ids } from '#platform/ids.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { toUnits } from '../money.ts'
import type { SoldWorkflows } from './delivery.ts'
import type { Facilitator } from './facilitator.ts'
import { findNetwork, networks } from './networks.ts'
import {
  deleteResource,
  findSold,
  findSoldPath,
  insertResource,
  listResources,
} from './resources.repository.ts'
import type { Delivery, NewResource, Resource } from './resources.schema.ts'
import type { Terms } from './wire.ts'

/** Calls of the agent that can be sold. */
export const soldCalls = ['/chat', '/sources/search']

interface Dependencies {
  /** Undefined if none is configured. */
  facilitator: Facilitator | undefined
  /** Returns the first parts of the paths of all endpoints of an agent. */
  endpoints(): ReadonlySet<string>
  workflows: SoldWorkflows
  clock: Clock
  ids: Ids
}

interface Delivered {
  delivery?: Delivery
  mimeType?: string
}

/** The resources that an agent sells. */
export function createResourcesService({ facilitator, endpoints, workflows, clock, ids }: Dependencies) {
  async function termsOf({ price, currency, network: name }: NewResource): Promise<Omit<Terms, 'payTo'>> {
    const network = findNetwork(name)
    if (network === undefined)
      throw invalid('network', `must be one of ${networks.map(known => known.name).join(', ')}`)
    if (facilitator !== undefined && !(await facilitator.supports(network)))
      throw invalid('network', `is none that the facilitator supports payments on`)
    const { ExactEvmScheme } = await import('@x402/evm/exact/server')
    const scheme = new ExactEvmScheme()
    const one = currency.toUpperCase() === 'USD' ? '$1' : `1 ${currency}`
    const coin = await scheme.parsePrice(one, network.id).catch(() => undefined)
    const decimals = coin && scheme.getAssetDecimals(coin.asset, network.id)
    if (coin === undefined || decimals === undefined)
      throw invalid('currency', `is no dollar coin that is known on ${network.name}`)
    const units = toUnits(price, decimals)
    if (units === undefined) throw invalid('price', `has more than the ${decimals} decimals of the coin`)
    if (units === 0n) throw invalid('price', 'must be more than zero')
    return { network: network.id, amount: units.toString(), asset: coin.asset, extra: coin.extra ?? {} }
  }

  /** Returns the delivery, and the media type in the terms. */
  async function deliveryOf(agent: AgentHandle, { path, deliver }: NewResource): Promise<Delivered> {
    if (deliver === undefined) return {}
    if (soldCalls.includes(path))
      throw invalid('deliver', `must not be given for ${path}, which has its own answer`)
    const { workflow_id, body, content_type } = deliver
    const hasText = body !== undefined && content_type !== undefined && workflow_id === undefined
    if (hasText) return { delivery: { body, content_type }, mimeType: requireUtf8(content_type) }
    if (workflow_id === undefined || body !== undefined || content_type !== undefined)
      throw invalid('deliver', 'must be {workflow_id}, or {body, content_type}')
    if (await workflows.isActive(agent, workflow_id)) return { delivery: { workflow_id } }
    throw invalid('deliver.workflow_id', 'is the id of no active workflow: create it, or set it to active')
  }

  return {
    list: ({ db }: AgentHandle, parameters: ListParameters) => listResources(db, parameters),

    /** Returns the calls of the agent that are sold. */
    soldCallsOf: ({ db }: AgentHandle) => findSold(db, soldCalls),

    async create(agent: AgentHandle, givenResource: NewResource): Promise<Resource> {
      const { path, price, currency, network, description } = givenResource
      if (!soldCalls.includes(path) && endpoints().has(path.split('/')[1] ?? ''))
        throw invalid(
          'path',
          `belongs to an endpoint that can't be sold; of these, only ${soldCalls.join(' and ')} can`,
        )
      const { delivery, mimeType } = await deliveryOf(agent, givenResource)
      const terms = JSON.stringify({ ...(await termsOf(givenResource)), mimeType })
      const resource = {
        id: ids.record(),
        path,
        price,
        currency,
        network,
        description,
        created_at: timestamp(clock),
      }
      if (await insertResource(agent.db, { ...resource, terms }, delivery))
        return { ...resource, ...(delivery && { deliver: delivery }) }
      throw conflict('This path is sold already. Delete its resource first.')
    },

    find: ({ db }: AgentHandle, path: string) => findSoldPath(db, path),

    async remove({ db }: AgentHandle, id: string): Promise<void> {
      if (!(await deleteResource(db, id))) throw notFound('Resource')
    },
  }
}

function requireUtf8(type: string): string {
  const charset = /;\s*charset="?([^\s;"]+)/i.exec(type)?.[1] ?? 'utf-8'
  if (/^utf-?8$/i.test(charset)) return type
  throw invalid(
    'deliver.content_type',
    `must not name the character set ${charset}: the text is sent as UTF-8`,
  )
}

export type ResourcesService = ReturnType<typeof createResourcesService>
