/** Where chunks are among others: those whose sequences differ in their last bits alone are neighbours, with one list for each lexeme. */

/** Neighbours, at most: a power of two. */
export const neighbours = 8192

/** The neighbourhood of a chunk, by its sequence. */
export function neighbourhoodOf(sequence: number): number {
  return Math.floor(sequence / neighbours)
}

/** What a thread calls chunks, by their sequences: numbers from 0. */
export interface ChunkNumbers {
  get(sequence: number): number | undefined
  set(sequence: number, number: number): void
  delete(sequence: number): void
  /** Chunks for which there is room: each takes four bytes. */
  room(): number
}

/** Neighbours for which there is room at least. */
const leastRoom = 64

/** A map of a hundred thousand takes ten times the memory, and longer to look something up. */
export function createChunkNumbers(): ChunkNumbers {
  /** By neighbourhood, for each of the chunks that may be there one more than its number. */
  const known = new Map<number, Uint32Array>()

  /** Of most agents the chunks are few, and the first of their neighbourhood. */
  function withRoomFor(place: number, numbers: Uint32Array = new Uint32Array(leastRoom)): Uint32Array {
    if (place < numbers.length) return numbers
    const longer = new Uint32Array(2 ** Math.ceil(Math.log2(place + 1)))
    longer.set(numbers)
    return longer
  }

  return {
    get(sequence) {
      const number = known.get(neighbourhoodOf(sequence))?.[sequence % neighbours] ?? 0
      return number === 0 ? undefined : number - 1
    },
    set(sequence, number) {
      const neighbourhood = neighbourhoodOf(sequence)
      const place = sequence % neighbours
      const numbers = withRoomFor(place, known.get(neighbourhood))
      known.set(neighbourhood, numbers)
      numbers[place] = number + 1
    },
    delete(sequence) {
      const numbers = known.get(neighbourhoodOf(sequence))
      if (numbers !== undefined) numbers[sequence % neighbours] = 0
    },
    room: () => Iterator.from(known.values()).reduce((sum, { length }) => sum + length, 0),
  }
}
