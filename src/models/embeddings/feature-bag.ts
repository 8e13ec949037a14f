/**
 * The four-letter sequences of a text's words with their weights, each once, in order of first occurrence.
 * Numbers, not strings: a page has thousands of sequences, and creating and comparing strings would take most
 * of the time of embedding it.
 */
export interface FeatureBag {
  clear(): void
  /** The sequences of a term enclosed in start and end marks; a term of one character is its only sequence. */
  add(term: string, weight: number): void
  size(): number
  /** Returns a 32-bit hash of the sequence at a position of that order. */
  hashAt(place: number): number
  weightAt(place: number): number
}

const [start, end] = ['^'.charCodeAt(0), '$'.charCodeAt(0)]
/** The code in place of a missing character. */
const none = 0

export function createFeatureBag(): FeatureBag {
  let size = 0
  let room = 1024
  /** All four UTF-16 units of each sequence, as two halves. */
  let halves = new Int32Array(2 * room)
  let hashes = new Uint32Array(room)
  let weights = new Float64Array(room)
  /** The position of a sequence plus one, in the slot given by its hash or the next free one. */
  let slots = new Int32Array(4 * room)

  function grow(): void {
    room *= 2
    halves = extended(halves, new Int32Array(2 * room))
    hashes = extended(hashes, new Uint32Array(room))
    weights = extended(weights, new Float64Array(room))
    slots = new Int32Array(4 * room)
    for (let place = 0; place < size; place++) slots[freeSlot(hashes[place] ?? 0)] = place + 1
  }

  function freeSlot(hash: number): number {
    let slot = hash & (slots.length - 1)
    while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1)
    return slot
  }

  function addOne(front: number, back: number, weight: number): void {
    const hash = hashOf(front, back)
    let slot = hash & (slots.length - 1)
    for (let place = (slots[slot] ?? 0) - 1; place >= 0; place = (slots[slot] ?? 0) - 1) {
      if (halves[2 * place] === front && halves[2 * place + 1] === back) {
        weights[place] = (weights[place] ?? 0) + weight
        return
      }
      slot = (slot + 1) & (slots.length - 1)
    }
    if (size === room) {
      grow()
      slot = freeSlot(hash)
    }
    halves[2 * size] = front
    halves[2 * size + 1] = back
    hashes[size] = hash
    weights[size] = weight
    size += 1
    slots[slot] = size
  }

  return {
    clear() {
      size = 0
      slots.fill(0)
    },
    add(term, weight) {
      const { length } = term
      const first = term.charCodeAt(0)
      if (length === 1) addOne(pair(start, first), pair(end, none), weight)
      let front = pair(start, first)
      let back = pair(first, term.charCodeAt(1))
      for (let at = 2; at <= length; at++) {
        const next = at < length ? term.charCodeAt(at) : end
        const middle = back
        back = pair(middle >>> 16, next)
        addOne(front, back, weight)
        front = middle
      }
    },
    size: () => size,
    hashAt: place => hashes[place] ?? 0,
    weightAt: place => weights[place] ?? 0,
  }
}

function pair(one: number, next: number): number {
  return one | (next << 16)
}

function extended<Numbers extends Int32Array | Uint32Array | Float64Array>(
  numbers: Numbers,
  larger: Numbers,
): Numbers {
  larger.set(numbers)
  return larger
}

/** Returns FNV-1a over the UTF-16 units, mixed like in MurmurHash3: every bit depends on every letter. */
function hashOf(front: number, back: number): number {
  let hash = 0x811c_9dc5
  hash = Math.imul(hash ^ (front & 0xffff), factor)
  hash = Math.imul(hash ^ (front >>> 16), factor)
  hash = Math.imul(hash ^ (back & 0xffff), factor)
  if (back >>> 16 !== none) hash = Math.imul(hash ^ (back >>> 16), factor)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

const factor = 0x0100_0193
