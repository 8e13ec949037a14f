/** Variables that the service does not read, although their names show that they are meant for it. */

const prefix = /^AGENTSTEAD_+/i
/** Variables that Kubernetes sets for a service of that name. */
const ofKubernetes = /^AGENTSTEAD_(?:SERVICE|PORT)(?:_|$)/
/** Shorter names, without underscores, can differ in one letter by chance. */
const minLength = 6
/** Longer names can differ in two letters. */
const longLength = 10

export interface UnknownVariable {
  name: string
  /** The known variable that is probably meant. */
  meant: string
}

/** Names that differ from a known one by a typing error, by notation, or by a prefix. */
export function findUnknown(
  source: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): UnknownVariable[] {
  return Object.keys(source).flatMap(name => {
    const isOrdinary =
      ofKubernetes.test(name) && /^(?:tcp:\/\/.*|[\d.:a-f]*|tcp|udp)$/.test(source[name] ?? '')
    if (known.includes(name) || isOrdinary) return []
    const plain = plainOf(name)
    const meant = known.find(one => plainOf(one) === plain) ?? known.find(one => isNear(plainOf(one), plain))
    return meant === undefined ? [] : [{ name, meant }]
  })
}

function plainOf(name: string): string {
  return name.replace(prefix, '').replaceAll('_', '').toUpperCase()
}

function isNear(known: string, given: string): boolean {
  if (known.length < minLength || given.length < minLength) return false
  const allowed = known.length < longLength ? 1 : 2
  return Math.abs(known.length - given.length) <= allowed && distance(known, given) <= allowed
}

/** Counts letters that are missing, too many, wrong, or swapped with their neighbour (optimal string alignment). */
function distance(one: string, other: string): number {
  let before: number[] = []
  let above = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let at = 1; at <= one.length; at += 1) {
    const row = [at]
    for (let to = 1; to <= other.length; to += 1) {
      const change = one[at - 1] === other[to - 1] ? 0 : 1
      const isSwapped = one[at - 1] === other[to - 2] && one[at - 2] === other[to - 1]
      const costs = [(above[to] ?? 0) + 1, (row[to - 1] ?? 0) + 1, (above[to - 1] ?? 0) + change]
      if (isSwapped && at > 1 && to > 1) costs.push((before[to - 2] ?? 0) + 1)
      row.push(Math.min(...costs))
    }
    before = above
    above = row
  }
  return above.at(-1) ?? 0
}
