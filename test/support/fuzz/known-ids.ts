import type { Random } from '../random.ts'

/** Older ones were deleted, or have been used often enough. */
const keptOfEach = 6

/** Ids that answers have told of, by what they are the id of; those of an agent apart from those of the others. */
export interface KnownIds {
  /** Takes down every id in an answer to a request to this path. */
  learn(path: string, agentId: string, answer: unknown): void
  /** An id for the parameter or field of this name, as `sourceId`, `source_id` or `clusterName`. */
  pick(name: string, agentId: string): string | undefined
  pickAgent(): string
}

export function createKnownIds(random: Random): KnownIds {
  const agents: string[] = []
  const ofAgents = new Map<string, Map<string, string[]>>()

  function add(list: string[], id: string): void {
    if (list.includes(id)) return
    list.push(id)
    if (list.length > keptOfEach) list.shift()
  }

  function note(agentId: string, noun: string, id: string): void {
    if (noun === 'agent') {
      add(agents, id)
      return
    }
    const nouns = ofAgents.get(agentId) ?? new Map<string, string[]>()
    ofAgents.set(agentId, nouns)
    const list = nouns.get(noun) ?? []
    nouns.set(noun, list)
    add(list, id)
  }

  return {
    learn(path, agentId, answer) {
      const collection = path.split('/').findLast(segment => !segment.startsWith('{')) ?? ''
      const noun = collection === 'mcp' ? 'server' : singular(collection)
      for (const [of, id] of idsIn(noun, answer)) note(agentId, of, id)
    },
    pick(name, agentId) {
      const known = ofAgents.get(agentId)?.get(nounOf(name)) ?? []
      return known.length === 0 ? undefined : random.pick(known)
    },
    pickAgent: () => (agents.length === 0 ? 'default' : random.pick(agents)),
  }
}

/** `noun` is what the value is, by the name that it stands under or the path that told of it. */
function* idsIn(noun: string, value: unknown): Generator<[noun: string, id: string]> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    const isOfSame = Array.isArray(value) || name === 'data'
    if (typeof inner !== 'string') yield* idsIn(isOfSame ? noun : singular(name), inner)
    else if (name === 'id') yield [noun, inner]
    else if (/(_id|Id|^cluster)$/.test(name) && inner !== '') yield [nounOf(name), inner]
  }
}

/** `sourceId`, `source_id` and `sources` name a source; a `clusterName` is a `cluster`. */
function nounOf(name: string): string {
  return name.replace(/_?(id|name)$/i, '').toLowerCase()
}

function singular(name: string): string {
  const last = name.replace(/^(user|assistant)(?=Message$)/, '').toLowerCase()
  return last.replace(/s$/, '')
}
