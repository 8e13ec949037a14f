/** The Walsh-Hadamard transform in place, without its scale; the length is a power of two. */
export function rotate(values: Float32Array): void {
  for (let half = 1; half < values.length; half *= 2) {
    for (let block = 0; block < values.length; block += 2 * half) {
      for (let index = block; index < block + half; index++) {
        const one = values[index] ?? 0
        const other = values[index + half] ?? 0
        values[index] = one + other
        values[index + half] = one - other
      }
    }
  }
}
