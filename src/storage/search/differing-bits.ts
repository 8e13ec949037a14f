/** Returns the bits as words of 32, padded with zeros. */
export function wordsOf({ buffer, byteOffset, byteLength }: Uint8Array | Float32Array): Uint32Array {
  if (byteOffset % 4 === 0 && byteLength % 4 === 0) return new Uint32Array(buffer, byteOffset, byteLength / 4)
  const padded = new Uint8Array(Math.ceil(byteLength / 4) * 4)
  padded.set(new Uint8Array(buffer, byteOffset, byteLength))
  return new Uint32Array(padded.buffer)
}

/**
 * Counts the bits in which the words of `one` from `from` to `to` differ from those of `other` beginning at
 * `at`. Searches spend most of their time here: words are added like digits, with carries, so that only one
 * in four is counted (Harley and Seal, in Warren's "Hacker's Delight"). Words beyond the end are zeros.
 */
export function differing(one: Uint32Array, other: Uint32Array, at: number, from: number, to: number) {
  let [ones, twos, fours] = [0, 0, 0]
  for (let index = from; index < to; index += 4) {
    const place = at + index
    const first = (one[index] ?? 0) ^ (other[place] ?? 0)
    const second = (one[index + 1] ?? 0) ^ (other[place + 1] ?? 0)
    const third = (one[index + 2] ?? 0) ^ (other[place + 2] ?? 0)
    const fourth = (one[index + 3] ?? 0) ^ (other[place + 3] ?? 0)
    const odd = ones ^ first
    const carried = (ones & first) | (odd & second)
    const even = odd ^ second
    const odder = even ^ third
    const carriedOn = (even & third) | (odder & fourth)
    ones = odder ^ fourth
    const both = twos ^ carried
    fours += setBits((twos & carried) | (both & carriedOn))
    twos = both ^ carriedOn
  }
  return 4 * fours + 2 * setBits(twos) + setBits(ones)
}

/** Counts bits by adding up neighbours of one, two and four bits. */
function setBits(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555)
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
}
