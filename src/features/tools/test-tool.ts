import { acceptArguments } from '#models/tools/accept-arguments.ts'
import type { Tool } from '#models/tools/tool.ts'
import { AppError } from '#platform/errors.ts'
import type { Offer } from './offered-tools.ts'

/** The result of a call by a person to test a tool. */
export interface TestOutcome {
  success: boolean
  data: { result?: unknown; error?: string; coerced?: string[]; duration_ms: number }
}

export async function testTool(
  { tool, reason }: Offer,
  given: Record<string, unknown>,
  signal: AbortSignal,
): Promise<TestOutcome> {
  const startedAt = performance.now()
  const outcome = tool === undefined ? { error: reason } : await call(tool, given, signal)
  const duration_ms = Math.round(performance.now() - startedAt)
  return { success: !('error' in outcome), data: { ...outcome, duration_ms } }
}

async function call(tool: Tool, given: Record<string, unknown>, signal: AbortSignal) {
  const accepted = await acceptArguments(tool, given)
  if (accepted.problem !== undefined) return { error: accepted.problem }
  const changes = accepted.coerced.length === 0 ? {} : { coerced: accepted.coerced }
  try {
    const result = (await tool.execute(accepted.input, signal)) ?? null
    return isWritable(result)
      ? { result, ...changes }
      : { error: 'The answer is nested too deeply to be shown.', ...changes }
  } catch (error) {
    if (error instanceof AppError) return { error: error.message, ...changes }
    throw error
  }
}

function isWritable(result: unknown): boolean {
  try {
    JSON.stringify(result)
    return true
  } catch {
    return false
  }
}
