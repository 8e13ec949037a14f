const { fround } = Math

/**
 * The fast Walsh-Hadamard transform in place, not normalised; the length is a power of two. It spreads every value over all
 * places, and keeps angles between vectors.
 */
export function walshHadamard(values: Float32Array): void {
  let half = 1
  for (; 4 * half <= values.length; half *= 4) twoSteps(values, half)
  if (half < values.length) lastStep(values, half)
}

function lastStep(values: Float32Array, half: number): void {
  for (let index = 0; index < half; index++) {
    const one = values[index] ?? 0
    const other = values[index + half] ?? 0
    values[index] = one + other
    values[index + half] = one - other
  }
}

/** Two steps at once read the values half as often. Each sum is rounded as if it were stored in between. */
function twoSteps(values: Float32Array, half: number): void {
  for (let block = 0; block < values.length; block += 4 * half) {
    for (let index = block; index < block + half; index++) {
      const first = values[index] ?? 0
      const second = values[index + half] ?? 0
      const third = values[index + 2 * half] ?? 0
      const fourth = values[index + 3 * half] ?? 0
      const sum = fround(first + second)
      const difference = fround(first - second)
      const otherSum = fround(third + fourth)
      const otherDifference = fround(third - fourth)
      values[index] = sum + otherSum
      values[index + half] = difference + otherDifference
      values[index + 2 * half] = sum - otherSum
      values[index + 3 * half] = difference - otherDifference
    }
  }
}
