/** The options of cutting a document; the names are those of a file source's `config`. */
export interface ChunkingOptions {
  /** Max length of a chunk in UTF-16 units. */
  chunk_size: number
  /** Max length of a chunk's end that the next one repeats, to keep statements whole; in UTF-16 units. */
  overlap: number
  method: ChunkingMethod
}

/** The chunking of a source. */
export type ChunkingWishes = { [Name in keyof ChunkingOptions]?: ChunkingOptions[Name] | undefined }

export const chunkingMethods = ['semantic', 'fixed'] as const

export type ChunkingMethod = (typeof chunkingMethods)[number]

/** About 250 tokens of English: long enough for one thought, short enough to quote several. */
export const defaultChunking: ChunkingOptions = { chunk_size: 1_000, overlap: 150, method: 'semantic' }

/** Inclusive bounds; `overlap` is also below half of `chunk_size`: every chunk adds more than it repeats. */
export const chunkingBounds = { chunk_size: { min: 100, max: 8_000 }, overlap: { min: 0 } } as const
