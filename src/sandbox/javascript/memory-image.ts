const pageBytes = 16 * 1024
const zeros = Buffer.alloc(pageBytes)

export interface MemoryImage {
  /** Writes the image into a memory of zeros. */
  restore(memory: Uint8Array): void
  /** Returns the addresses of aligned integers of 64 bits from `least` to `most`, which are below 2 ** 53. */
  find(least: number, most: number): number[]
}

/** Copies the pages of a memory that hold more than zeros. */
export function takeImage(memory: Uint8Array): MemoryImage {
  const pages = usedPages(memory).map(([start, page]) => [start, Uint8Array.from(page)] as const)
  return {
    restore(target) {
      for (const [start, page] of pages) target.set(page, start)
    },
    find(least, most) {
      const found: number[] = []
      for (const [start, page] of pages) {
        const words = new Uint32Array(page.buffer)
        for (let index = 0; index < words.length; index += 2) {
          const value = (words[index + 1] ?? 0) * 2 ** 32 + (words[index] ?? 0)
          if (value >= least && value <= most) found.push(start + index * 4)
        }
      }
      return found
    },
  }
}

/** Leaves zeros everywhere. Only reads zero pages: the system has not even given memory to most of them. */
export function clear(memory: Uint8Array): void {
  for (const [, page] of usedPages(memory)) page.fill(0)
}

function usedPages(memory: Uint8Array): [start: number, page: Uint8Array][] {
  const used: [number, Uint8Array][] = []
  for (let start = 0; start < memory.length; start += pageBytes) {
    if (zeros.compare(memory, start, start + pageBytes) !== 0)
      used.push([start, memory.subarray(start, start + pageBytes)])
  }
  return used
}
