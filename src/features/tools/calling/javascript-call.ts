import { AppError } from '#platform/errors.ts'
import type { ConsoleLine } from '#sandbox/javascript/outcome.ts'
import type { Sandbox } from '#sandbox/javascript/sandbox.ts'
import type { JavascriptConfiguration } from '../configuration.ts'

/** Number of console lines reported with an error: the last ones say most. */
const toldLines = 20

/**
 * Runs the code of a tool of type `javascript`; its console output, if any, is returned with the value.
 * @throws AppError `TOOL_FAILED` with what went wrong and the output until then.
 */
export function createJavascriptCall(sandbox: Sandbox) {
  return async (
    agentId: string,
    { code }: JavascriptConfiguration,
    given: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<unknown> => {
    const run = await sandbox.run({ code, argument: given, owner: agentId, signal })
    const written = run.console.map(lineOf)
    if (run.outcome === 'returned')
      return written.length === 0 ? run.value : { result: run.value, console: written }
    const lines = written.slice(-toldLines)
    const told = lines.length === 0 ? '' : ` It wrote to its console: ${lines.join('\n')}`
    throw new AppError('TOOL_FAILED', `${run.message}${told}`)
  }
}

export type JavascriptCaller = ReturnType<typeof createJavascriptCall>

function lineOf({ level, text }: ConsoleLine): string {
  return level === 'log' ? text : `${level}: ${text}`
}
