/** The few chunks that are worth most, of many that are told one after the other. */
export interface Best {
  sequence: number
  value: number
}

/** Keeps the greatest values, of equal ones the first chunk, as a heap with the least of them at its top. */
export function createBest(limit: number) {
  const heap: Best[] = []
  let least = 0

  function rise(entry: Best): void {
    let place = heap.length
    while (place > 0) {
      const above = (place - 1) >> 1
      const better = heap[above]
      if (better === undefined || !isWorse(entry, better)) break
      heap[place] = better
      place = above
    }
    heap[place] = entry
  }

  function sink(entry: Best): void {
    for (let place = 0; ; ) {
      const [left, right] = [heap[2 * place + 1], heap[2 * place + 2]]
      const isRight = left !== undefined && right !== undefined && isWorse(right, left)
      const worse = isRight ? right : left
      if (worse === undefined || !isWorse(worse, entry)) {
        heap[place] = entry
        return
      }
      heap[place] = worse
      place = 2 * place + (isRight ? 2 : 1)
    }
  }

  return {
    /** What a value has to exceed, or to equal where chunks don't come in order. */
    least: () => least,
    add(sequence: number, value: number): void {
      const [worst] = heap
      if (heap.length < limit) rise({ sequence, value })
      else if (worst === undefined || isWorse({ sequence, value }, worst)) return
      else sink({ sequence, value })
      if (heap.length === limit) least = heap[0]?.value ?? least
    },
    sorted: () => heap.sort((one, other) => (isWorse(one, other) ? 1 : -1)),
  }
}

function isWorse(one: Best, other: Best): boolean {
  return one.value < other.value || (one.value === other.value && one.sequence > other.sequence)
}
