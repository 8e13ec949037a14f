import type { Cause, Tool } from '#models/tools/tool.ts'
import { AppError } from '#platform/errors.ts'
import { cutMiddle, truncateResult } from './truncate-result.ts'

/** Calls a tool; a failure becomes the result's error. No more than this many characters of either are kept. */
export async function performCall(
  tool: Tool,
  given: Record<string, unknown>,
  signal: AbortSignal,
  characters: number,
  cause?: Cause,
): Promise<{ result: unknown } | { error: string }> {
  try {
    return { result: truncateResult(await tool.execute(given, signal, cause), characters) }
  } catch (error) {
    const message = error instanceof AppError ? error.message : `The tool ${tool.name} failed.`
    return { error: cutMiddle(message, characters) }
  }
}
