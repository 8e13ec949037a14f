import type { text } from './text.ts'

interface Authored {
  id: string
  created_by?: string
}

/** Who wrote or began something, in words; undefined for the caller itself, and where it is not known. */
export function authorOf(
  { created_by = '' }: Authored,
  caller: string | undefined,
  t: ReturnType<typeof text.current>,
): string | undefined {
  const author = created_by.replace(/^mcp:/, '')
  const [kind, name = ''] = author.split(/:(.*)/s)
  if (author === '' || author === `person:${caller}`) return undefined
  if (kind === 'key') return t.byKey
  if (kind === 'anonymous') return caller === undefined ? undefined : t.byNoUser
  return kind === 'channel' ? name.slice(0, 1).toUpperCase() + name.slice(1) : name || author
}
