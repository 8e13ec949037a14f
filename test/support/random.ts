/** Numbers that look random and are the same in every run. */
export interface Random {
  /** At least 0, less than 1. */
  next(): number
  /** One of the values; fails for none. */
  pick<Value>(values: readonly Value[]): Value
}

/** The generator mulberry32: 32 bits of state, good enough to choose test data. */
export function seededRandom(seed: number): Random {
  let state = seed
  function next(): number {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    next,
    pick(values) {
      const index = Math.floor(next() * values.length)
      if (index >= values.length) throw new Error('There is nothing to pick from.')
      return values[index] as (typeof values)[number]
    },
  }
}
