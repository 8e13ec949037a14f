import { AppError } from '#platform/errors.ts'
import { describeFailure, describeLine } from '#sandbox/javascript/describe-failure.ts'
import type { Sandbox } from '#sandbox/javascript/sandbox.ts'
import type { JavascriptConfiguration } from '../configuration.ts'

/**
 * Runs the code of a tool of type `javascript`; returns its console output, if any, with the value.
 * @throws AppError `TOOL_FAILED` with the error and the output until then.
 */
export function createJavascriptCall(sandbox: Sandbox) {
  return async (
    agentId: string,
    { code }: JavascriptConfiguration,
    given: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<unknown> => {
    const run = await sandbox.run({ code, argument: given, owner: agentId, signal })
    if (run.outcome !== 'returned') throw new AppError('TOOL_FAILED', describeFailure(run))
    if (run.console.length === 0) return run.value
    return { result: run.value, console: run.console.map(describeLine) }
  }
}

export type JavascriptCaller = ReturnType<typeof createJavascriptCall>
