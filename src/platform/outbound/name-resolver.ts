import type { LookupAddress } from 'node:dns'
import dns, { lookup, Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { currentOwner } from '../current-owner.ts'
import { createFairSlots } from '../workers/fair-slots.ts'
import type { Resolve } from './guarded-resolver.ts'

export interface NameResolverOptions {
  /** Returns true for a host that the operator has named: the operating system looks it up. */
  isNamed(hostname: string): boolean
  /** Max time of a look-up, including the wait for its turn (ms). */
  limitMs?: number
}

/** Max look-ups at a time, and for one agent. */
const concurrency = 200
const concurrencyPerOwner = 16

const hostsFile = '/etc/hosts'
const loopback: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/**
 * Looks up names of users and pages. The operating system does so on a few threads of the process, without a
 * limit of time: names whose DNS server never answers would delay those of the operator. So it looks up only
 * hosts that the operator has named; all others are queried from DNS directly, without a thread, in turns of
 * the agents and with a limit of time.
 */
export function createNameResolver({ isNamed, limitMs = 8_000 }: NameResolverOptions): Resolve {
  const slots = createFairSlots(concurrency, concurrencyPerOwner)

  async function queryInTurn(name: string): Promise<LookupAddress[]> {
    const signal = AbortSignal.timeout(limitMs)
    const release = await slots.take(currentOwner.getStore() ?? '', signal)
    const resolver = new Resolver({ timeout: 2_000, tries: 2 })
    // The servers of the system, or others set later, which no named import would follow.
    resolver.setServers(dns.getServers())
    const cancel = () => resolver.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    try {
      signal.throwIfAborted()
      return await queryDns(resolver, name)
    } finally {
      signal.removeEventListener('abort', cancel)
      release()
    }
  }

  return async hostname => {
    if (isNamed(hostname)) return await lookup(hostname, { all: true })
    const name = hostname.toLowerCase().replace(/\.$/, '')
    const known = await knownHere(name)
    return known.length > 0 ? known : await queryInTurn(name).catch(failAsSystem)
  }
}

/** Looks up names that are never queried from DNS. */
async function knownHere(name: string): Promise<LookupAddress[]> {
  if (/(?:^|\.)localhost$/.test(name)) return loopback
  const lines = (await readFile(hostsFile, 'utf8').catch(() => '')).split('\n')
  const entries = lines.map(line => line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/))
  const own = entries.filter(([, ...names]) => names.includes(name))
  return own.map(([address = '']) => ({ address, family: address.includes(':') ? 6 : 4 }))
}

async function queryDns(resolver: Resolver, name: string): Promise<LookupAddress[]> {
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  const addresses = answers.flatMap((answer, index) =>
    answer.status === 'fulfilled'
      ? answer.value.map(address => ({ address, family: index === 0 ? 4 : 6 }))
      : [],
  )
  if (addresses.length > 0) return addresses
  const [refused] = answers
  throw refused?.status === 'rejected' ? refused.reason : new Error('DNS has no address for the name.')
}

/** Throws with the codes of the operating system's look-ups, which callers know. */
function failAsSystem(error: { code?: unknown }): never {
  const code = error.code === 'ENOTFOUND' || error.code === 'ENODATA' ? 'ENOTFOUND' : 'EAI_AGAIN'
  throw Object.assign(new Error('The name could not be looked up.', { cause: error }), { code })
}
