import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import { conflict, invalid, notFound } from '#platform/errors.ts'
import type { ListParameters } from '#platform/http/lists/list-query.ts'
import type { Ids } from '#platform/ids.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { toUnits } from '../money.ts'
import type { Facilitator } from './facilitator.ts'
import { findNetwork, networks } from './networks.ts'
import { deleteResource, findSold, insertResource, listResources } from './resources.repository.ts'
import type { NewResource, Resource } from './resources.schema.ts'
import type { Terms } from './wire.ts'

/** Calls of the agent that can be sold. */
export const soldCalls = ['/chat', '/sources/search']

interface Dependencies {
  /** Undefined if none is configured. */
  facilitator: Facilitator | undefined
  /** The first parts of the paths of all endpoints of an agent. */
  endpoints(): ReadonlySet<string>
  clock: Clock
  ids: Ids
}

/** The resources that an agent sells. */
export function createResourcesService({ facilitator, endpoints, clock, ids }: Dependencies) {
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

  return {
    list: ({ db }: AgentHandle, parameters: ListParameters) => listResources(db, parameters),

    /** The calls of the agent that are sold. */
    soldCallsOf: ({ db }: AgentHandle) => findSold(db, soldCalls),

    async create({ db }: AgentHandle, given: NewResource): Promise<Resource> {
      const { path, price, currency, network, description } = given
      if (!soldCalls.includes(path) && endpoints().has(path.split('/')[1] ?? ''))
        throw invalid(
          'path',
          `belongs to an endpoint that can't be sold; of these, only ${soldCalls.join(' and ')} can`,
        )
      const terms = JSON.stringify(await termsOf(given))
      const resource = {
        id: ids.record(),
        path,
        price,
        currency,
        network,
        description,
        created_at: timestamp(clock),
      }
      if (await insertResource(db, { ...resource, terms })) return resource
      throw conflict('This path is sold already. Delete its resource first.')
    },

    async remove({ db }: AgentHandle, id: string): Promise<void> {
      if (!(await deleteResource(db, id))) throw notFound('Resource')
    },
  }
}

export type ResourcesService = ReturnType<typeof createResourcesService>
