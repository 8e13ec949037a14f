import type { Tool } from '#models/tools/tool.ts'
import { AppError } from '#platform/errors.ts'
import type { Offer } from './offered-tools.ts'

/** The result of a call by a person to test a tool. */
export interface TestOutcome {
  success: boolean
  data: { result?: unknown; error?: string; duration_ms: number }
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
  const problem = await tool.check(given)
  if (problem !== undefined) return { error: problem }
  try {
    const result = (await tool.execute(given, signal)) ?? null
    return isWritable(result) ? { result } : { error: 'The answer is nested too deeply to be shown.' }
  } catch (error) {
    if (error instanceof AppError) return { error: error.message }
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
