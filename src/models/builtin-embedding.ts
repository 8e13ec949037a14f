/**
 * An embedding without weights or network: it finds what the full-text index misses, misspelt and inflected words and
 * parts of compounds, by the letter sequences that words share.
 *
 * A text becomes the bag of the four-letter sequences of its words, hashed with random signs into as many counters as
 * there are dimensions ("feature hashing", Weinberger et al. 2009). A Walsh-Hadamard transform rotates the counters, and
 * the signs of the result are the vector: the share of bits in which two vectors differ is the angle between their texts
 * divided by π (Charikar 2002; as in cross-polytope hashing, Andoni et al. 2015, the rotation takes no stored matrix).
 * A bit a dimension keeps many dimensions small and quick to compare, and many dimensions keep the noise low.
 *
 * Documents are weighed by their own words alone (1 + ln of the count) and queries by the rarity of their words ("lnc.ltc"
 * in SMART's notation), so that no stored vector grows stale when documents are added.
 */
import { rotate } from '#platform/rotate.ts'
import { isStopWord, termsOf } from './text-analysis.ts'

/** A power of two, as the transform needs it. Twice as many find a little more, at twice the space and time. */
const dimensions = 4096

/** Another `id` whenever the same text would get another vector: vectors of different ids are never compared. */
export const builtinEmbedding = { id: 'builtin-1', dimensions } as const

/**
 * Similarity to be met by chance: four standard deviations of the angle's estimate between unrelated texts.
 * What is less similar than this says nothing.
 */
export const noiseLevel = (4 * (Math.PI / 2)) / Math.sqrt(dimensions)

const sequenceLength = 4

/** One bit a dimension; undefined for a text without words. */
export function embedDocument(text: string): Uint8Array | undefined {
  // Terms first: most stand more than once, and have many features.
  const terms = new Map<string, number>()
  for (const term of termsOf(text)) if (!isStopWord(term)) terms.set(term, (terms.get(term) ?? 0) + 1)
  const counts = new Map<string, number>()
  for (const [term, times] of terms) {
    for (const feature of featuresOf(term)) counts.set(feature, (counts.get(feature) ?? 0) + times)
  }
  for (const [feature, count] of counts) counts.set(feature, 1 + Math.log(count))
  return counts.size === 0 ? undefined : packed(valuesOf(counts))
}

/** The bits and what they are the signs of. `weightOf` tells how much a term counts for, as a rule its inverse document frequency. */
export function embedQuery(
  terms: readonly string[],
  weightOf: (term: string) => number,
): { vector: Uint8Array; values: Float32Array } | undefined {
  const weights = new Map<string, number>()
  for (const term of terms) {
    const weight = weightOf(term)
    for (const feature of featuresOf(term)) weights.set(feature, (weights.get(feature) ?? 0) + weight)
  }
  if (weights.size === 0) return undefined
  const values = valuesOf(weights)
  return { vector: packed(values), values }
}

/** The sequences of a term between marks for its start and end; a short one, such as a pair of characters, is its only one. */
function featuresOf(term: string): string[] {
  const marked = `^${term}$`
  if (marked.length <= sequenceLength) return [marked]
  const features: string[] = []
  for (let end = sequenceLength; end <= marked.length; end++)
    features.push(marked.slice(end - sequenceLength, end))
  return features
}

function valuesOf(weights: ReadonlyMap<string, number>): Float32Array {
  const counters = new Float32Array(dimensions)
  for (const [feature, weight] of weights) {
    const hash = hashOf(feature)
    const index = hash % dimensions
    const value = weight * (1 + unevenness(hash))
    counters[index] = (counters[index] ?? 0) + (hash < 0x8000_0000 ? value : -value)
  }
  rotate(counters)
  return counters
}

/**
 * Up to one percent. Features of equal weight would often cancel out exactly, and the bits of all those zeros would make
 * unrelated texts alike.
 */
function unevenness(hash: number): number {
  return ((hash >>> 16) & 0xff) / 0x6400
}

function packed(values: Float32Array): Uint8Array {
  const bits = new Uint8Array(values.length / 8)
  for (let byte = 0; byte < bits.length; byte++) {
    let eight = 0
    for (let bit = 0; bit < 8; bit++) if ((values[byte * 8 + bit] ?? 0) > 0) eight |= 1 << bit
    bits[byte] = eight
  }
  return bits
}

/** 32 bits: FNV-1a over the UTF-16 units, mixed as at the end of MurmurHash3 so that every bit depends on every letter. */
function hashOf(text: string): number {
  let hash = 0x811c_9dc5
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x0100_0193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
