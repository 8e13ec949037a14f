/** Limits of unfolded files. The thread that reads a file limits time and memory. */
export const limits = {
  pdfPages: 5_000,
  /** Max entries of a PDF's outline that become sections; the rest is left out. */
  outlineEntries: 2_000,
  /** UTF-16 units of extracted text. */
  characters: 20_000_000,
  /** Bytes of all entries of a zip archive together, inflated. */
  inflatedBytes: 100 * 1024 * 1024,
  /** Inflated to compressed size of one archive entry, from `ratioFloorBytes` on: honest XML seldom passes 50. */
  inflationRatio: 200,
  ratioFloorBytes: 10 * 1024 * 1024,
  /** Nested brackets of a JSON document. */
  jsonDepth: 1_000,
  /** Brackets, braces and commas of a JSON document together. */
  jsonMarks: 5_000_000,
  /** Levels of HTML above which only the bare text is taken: renderers are recursive. */
  htmlDepth: 300,
  /** Max time of reading a file (ms). */
  fileMs: 60_000,
  /** Max time of reading a web page, for which a reader waits (ms). */
  pageMs: 15_000,
} as const
