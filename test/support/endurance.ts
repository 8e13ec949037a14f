/** In full by `npm run test:endurance`, at a twentieth otherwise. */
export const isFullEndurance = process.env.ENDURANCE === 'full'

/** As much as `npm run test:endurance` takes, or the part of it that every run of the tests takes. */
export const scaled = (full: number): number => (isFullEndurance ? full : Math.ceil(full / 20))

/** How often a crash is tried. */
export const crashRounds = isFullEndurance ? 50 : 2

/** Numbers from 0 up to 1 that are the same in every run (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
