/** Finds the few best chunks of many that are added one after another. */
export interface Best {
  sequence: number
  value: number
}

/**
 * Keeps the greatest values (on a tie, the earlier chunk) as a heap with the smallest at its top, in arrays
 * of numbers, because an object per chunk would create a lot of garbage.
 */
export function createBest(limit: number) {
  const sequences = new Float64Array(limit)
  const values = new Float64Array(limit)
  let count = 0

  function isWorse(place: number, sequence: number, value: number): boolean {
    const other = values[place] ?? 0
    return other < value || (other === value && (sequences[place] ?? 0) > sequence)
  }

  function put(place: number, sequence: number, value: number): void {
    sequences[place] = sequence
    values[place] = value
  }

  function move(from: number, to: number): void {
    put(to, sequences[from] ?? 0, values[from] ?? 0)
  }

  function rise(sequence: number, value: number): void {
    let place = count
    count += 1
    while (place > 0) {
      const above = (place - 1) >> 1
      if (isWorse(above, sequence, value)) break
      move(above, place)
      place = above
    }
    put(place, sequence, value)
  }

  function sink(sequence: number, value: number): void {
    let place = 0
    for (;;) {
      const left = 2 * place + 1
      const right = left + 1
      const worse = right < count && isWorse(right, sequences[left] ?? 0, values[left] ?? 0) ? right : left
      if (worse >= count || !isWorse(worse, sequence, value)) break
      move(worse, place)
      place = worse
    }
    put(place, sequence, value)
  }

  return {
    /** The bound that a value has to exceed, or to equal if chunks do not come in order. */
    least: () => (count < limit ? 0 : (values[0] ?? 0)),
    add(sequence: number, value: number): void {
      if (count < limit) rise(sequence, value)
      else if (isWorse(0, sequence, value)) sink(sequence, value)
    },
    sorted(): Best[] {
      const all = Array.from({ length: count }, (_, place) => ({
        sequence: sequences[place] ?? 0,
        value: values[place] ?? 0,
      }))
      return all.sort((one, other) => other.value - one.value || one.sequence - other.sequence)
    },
  }
}
