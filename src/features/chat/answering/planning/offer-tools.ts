import type { Tool } from '#models/tools/tool.ts'
import { nameTools } from '#models/tools/tool-name.ts'

/**
 * Returns the tools; the caller's keep their names, by which the caller knows them. The order is fixed, because tools begin
 * the prompt: the caller's, the built-in ones, the others as their features store them.
 */
export function allTools(offered: readonly Tool[], callers: readonly Tool[] = []): readonly Tool[] {
  const own = callers.length === 0 ? offered : nameTools(offered, new Set(callers.map(({ name }) => name)))
  const [builtIn, others] = [true, false].map(side =>
    own.filter(({ isBuiltIn = false }) => isBuiltIn === side),
  )
  return [...callers, ...(builtIn ?? []), ...(others ?? [])]
}
