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
import { walshHadamard } from '#platform/walsh-hadamard.ts'
import { isStopWord, termsOf } from '../text-analysis/text-analysis.ts'
import { createFeatureBag } from './feature-bag.ts'

/** A power of two, as the transform requires. Twice as many would find slightly more, for twice the space and time. */
const dimensions = 4096

/** Changes whenever the same text would get a different vector: only vectors of one id are compared. */
export const builtinEmbedding = { id: 'builtin-1', dimensions } as const

/**
 * Similarity that can arise by chance: four standard deviations of the angle's estimate between unrelated
 * texts. Lower similarity is meaningless.
 */
export const noiseLevel = (4 * (Math.PI / 2)) / Math.sqrt(dimensions)

/** The features of the text that is being embedded. */
const features = createFeatureBag()

/** Returns a vector with one bit per dimension; undefined for a text without words. */
export function embedDocument(text: string): Uint8Array | undefined {
  return embedTerms(termsOf(text))
}

/** Embeds a text that is already split into terms. */
export function embedTerms(terms: readonly string[]): Uint8Array | undefined {
  features.clear()
  for (const term of terms) if (!isStopWord(term)) features.add(term, 1)
  return features.size() === 0 ? undefined : packed(valuesOf(count => 1 + Math.log(count)))
}

/** Returns the bits, and the values of their signs. `weightOf` weighs a term, usually by its rarity. */
export function embedQuery(
  terms: readonly string[],
  weightOf: (term: string) => number,
): { vector: Uint8Array; values: Float32Array } | undefined {
  features.clear()
  for (const term of terms) features.add(term, weightOf(term))
  if (features.size() === 0) return undefined
  const values = valuesOf(weight => weight)
  return { vector: packed(values), values }
}

/** `form` turns the sum of a feature's weights into its contribution. */
function valuesOf(form: (weight: number) => number): Float32Array {
  const counters = new Float32Array(dimensions)
  for (let place = 0; place < features.size(); place++) {
    const hash = features.hashAt(place)
    const index = hash % dimensions
    const value = form(features.weightAt(place)) * (1 + unevenness(hash))
    counters[index] = (counters[index] ?? 0) + (hash < 0x8000_0000 ? value : -value)
  }
  walshHadamard(counters)
  return counters
}

/**
 * Returns up to one percent, by the hash. Features of equal weight would often cancel out exactly, and the
 * bits of all those zeros would make unrelated texts alike.
 */
function unevenness(hash: number): number {
  return ((hash >>> 16) & 0xff) / 0x6400
}

function packed(values: Float32Array): Uint8Array {
  // Whole numbers keep the signs. Signs are evenly mixed: branches would be mispredicted half the time.
  const whole = new Int32Array(values.buffer)
  const bits = new Uint8Array(values.length / 8)
  for (let index = 0; index < values.length; index++) {
    const value = whole[index] ?? 0
    const isNotPositive = (value | (value - 1)) >>> 31
    bits[index >> 3] = (bits[index >> 3] ?? 0) | ((1 - isNotPositive) << (index & 7))
  }
  return bits
}
