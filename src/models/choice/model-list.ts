import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clock } from '#platform/clock.ts'
import type { Log } from '#platform/logging/log.ts'
import type { Endpoint, ModelDescriptor, RemoteProvider } from '../providers/provider.ts'
import { adapterOf, withoutSecret } from '../providers/providers.ts'
import { addressBelow } from '../transport/base-address.ts'
import { readFailure } from '../transport/model-error.ts'
import { catalogueOf, describeModel } from './model-catalogue.ts'
import { listMissing } from './model-refusals.ts'

/** Time that a list counts as fresh (ms); a failed one is requested again sooner. */
const freshFor = 10 * 60_000
const failedFor = 60_000
const maxListBytes = 4 * 1024 * 1024

export interface ModelLists {
  /** Returns the provider's own list, or the catalogue's if it is not available in time. Never rejects. */
  modelsOf(provider: RemoteProvider, endpoint: Endpoint): Promise<ModelDescriptor[]>
  /** Returns true if the provider lists the model; undefined if it returns no list now. Never rejects. */
  lists(provider: RemoteProvider, endpoint: Endpoint, id: string): Promise<boolean | undefined>
  /**
   * Returns the id of the first model on that list, undefined if the provider lists none. Throws MODEL_ERROR
   * if the list is not available now; each call then requests it again.
   */
  firstOf(provider: RemoteProvider, endpoint: Endpoint): Promise<string | undefined>
}

interface Listing {
  models: ModelDescriptor[]
  /** True if the provider might have a list that was not available. */
  isMissing: boolean
  /** True if the provider sent the list, false for the catalogue's. */
  isOwn: boolean
}

/** Thrown if the provider has answered that it has no list. */
class NoList extends Error {}

const statusesWithoutList = [404, 405, 501]

interface Dependencies {
  clock: Clock
  log: Log
  /** Time that a provider has to answer with its list (ms). */
  timeLimit?: number
}

export function createModelLists({ clock, log, timeLimit = 3000 }: Dependencies): ModelLists {
  const lists = new LRUCache<string, Promise<Listing>>({
    max: 500,
    ttl: freshFor,
    perf: clock,
    ttlResolution: 0,
  })

  async function request(provider: RemoteProvider, endpoint: Endpoint, key: string): Promise<Listing> {
    try {
      const listed = await fetchList(provider, endpoint, timeLimit)
      return { models: listed.map(model => describeModel(provider, model)), isMissing: false, isOwn: true }
    } catch (error) {
      const { name, message, status } = readFailure(error)
      const reason = withoutSecret(endpoint.apiKey)(message)
      log.warn(
        { provider, name, status, reason },
        'no list of models from the provider: the catalogue is used',
      )
      const known = { models: catalogueOf(provider), isMissing: !(error instanceof NoList), isOwn: false }
      lists.set(key, Promise.resolve(known), { ttl: failedFor })
      return known
    }
  }

  async function requestAgain(provider: RemoteProvider, endpoint: Endpoint): Promise<Listing> {
    const key = keyOf(provider, endpoint)
    const listing = request(provider, endpoint, key)
    lists.set(key, listing)
    return await listing
  }

  async function listing(provider: RemoteProvider, endpoint: Endpoint): Promise<Listing> {
    return await (lists.get(keyOf(provider, endpoint)) ?? requestAgain(provider, endpoint))
  }

  return {
    modelsOf: async (provider, endpoint) => (await listing(provider, endpoint)).models,

    async lists(provider, endpoint, id) {
      const { models, isOwn } = await listing(provider, endpoint)
      return isOwn ? models.some(model => model.id === id) : undefined
    },

    async firstOf(provider, endpoint) {
      const known = await lists.get(keyOf(provider, endpoint))
      const isUseful = known !== undefined && !known.isMissing
      const { models, isMissing } = isUseful ? known : await requestAgain(provider, endpoint)
      const [first] = models
      if (first === undefined && isMissing) throw listMissing(provider)
      return first?.id
    },
  }
}

async function fetchList(provider: RemoteProvider, endpoint: Endpoint, timeLimit: number) {
  const adapter = adapterOf(provider)
  const { path, headers } = adapter.listRequest(endpoint.apiKey)
  const response = await endpoint.fetch(addressBelow(endpoint.baseUrl, path), {
    headers: { accept: 'application/json', ...headers },
    signal: AbortSignal.timeout(timeLimit),
  })
  if (!response.ok) {
    await response.body?.cancel()
    const hasNone = statusesWithoutList.includes(response.status)
    throw new (hasNone ? NoList : Error)(`answered with status ${response.status}`)
  }
  const models = adapter.readList(await jsonWithin(response, maxListBytes))
  if (models.length === 0) throw new NoList('answered without a model that can chat')
  return models
}

async function jsonWithin(response: Response, maxBytes: number): Promise<unknown> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of response.body ?? []) {
    size += piece.byteLength
    if (size > maxBytes) throw new Error(`answered with more than ${maxBytes} bytes`)
    pieces.push(piece)
  }
  return JSON.parse(Buffer.concat(pieces).toString('utf8'))
}

/** Returns the key of a list. Lists differ by account; the API key itself is not stored. */
function keyOf(provider: RemoteProvider, { baseUrl, apiKey = '' }: Endpoint): string {
  return hash('sha256', JSON.stringify([provider, baseUrl, apiKey]), 'base64')
}
