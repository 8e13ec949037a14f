import { extname } from 'node:path'

export const documentFormats = ['pdf', 'txt', 'md', 'docx', 'json', 'csv'] as const

export type DocumentFormat = (typeof documentFormats)[number]

const linesOfJson: ReadonlySet<string> = new Set(['jsonl', 'ndjson'])

/** Returns the format by the name's extension, in any case; undefined for types that cannot be uploaded. */
export function documentFormatOf(fileName: string): DocumentFormat | undefined {
  const extension = extname(fileName).slice(1).toLowerCase()
  return linesOfJson.has(extension) ? 'json' : documentFormats.find(format => format === extension)
}
