/** Bounds on what a file may unfold to. Time and memory are bounded by the thread that reads it. */
export const limits = {
  pdfPages: 5_000,
  /** Entries of a PDF's outline that become sections; the rest is left out. */
  outlineEntries: 2_000,
  /** UTF-16 units of extracted text. */
  characters: 20_000_000,
  /** Bytes of all entries of a zip archive together, inflated. */
  inflatedBytes: 100 * 1024 * 1024,
  /** Inflated to compressed size of one archive entry, from `ratioFloorBytes` on: honest XML seldom passes 50. */
  inflationRatio: 200,
  ratioFloorBytes: 10 * 1024 * 1024,
  /** Brackets of a JSON document inside one another. */
  jsonDepth: 1_000,
  /** Brackets, braces and commas of a JSON document together. */
  jsonMarks: 5_000_000,
  /** Levels of HTML from which on only the bare text is taken: renderers work by recursion. */
  htmlDepth: 300,
  /** Milliseconds until a file that is still being read is given up. */
  fileMs: 60_000,
  /** The same for a web page, for which a reader waits. */
  pageMs: 15_000,
} as const
