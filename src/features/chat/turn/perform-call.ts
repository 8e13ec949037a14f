import type { Accepted } from '#models/tools/accept-arguments.ts'
import type { Cause, Tool } from '#models/tools/tool.ts'
import { CallWaits } from '#models/tools/tool-turn.ts'
import { AppError } from '#platform/errors.ts'
import { cutMiddle, truncateResult } from './truncate-result.ts'

export type CallOutcome = ({ result: unknown } | { error: string }) & { coerced?: string[] }

/** Calls a tool; a failure becomes the result's error. Result and error are cut to this many characters. Throws CallWaits. */
export async function performCall(
  tool: Tool,
  { input, coerced }: Accepted,
  signal: AbortSignal,
  characters: number,
  cause?: Cause,
): Promise<CallOutcome> {
  const changes = coerced.length === 0 ? {} : { coerced }
  try {
    return { result: truncateResult(await tool.execute(input, signal, cause), characters), ...changes }
  } catch (error) {
    if (error instanceof CallWaits) throw error
    const message = error instanceof AppError ? error.message : `The tool ${tool.name} failed.`
    return { error: cutMiddle(message, characters), ...changes }
  }
}
