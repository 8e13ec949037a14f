import type { Tool } from '#models/tools/tool.ts'
import { AppError } from '#platform/errors.ts'
import { keptCharacters, truncateResult } from './truncate-result.ts'

/** Calls a tool; a failure becomes the result's error. */
export async function performCall(
  tool: Tool,
  given: Record<string, unknown>,
  signal: AbortSignal,
): Promise<{ result: unknown } | { error: string }> {
  try {
    return { result: truncateResult(await tool.execute(given, signal), keptCharacters) }
  } catch (error) {
    return { error: error instanceof AppError ? error.message : `The tool ${tool.name} failed.` }
  }
}
