/** Prepares an engine: the code in `inside/` runs there first, and is the only code that holds a reference to the host. */
import { readFileSync } from 'node:fs'
import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten-core'

const [core, ...extensions] = ['core', 'url', 'fetch', 'text', 'intl'].map(name =>
  readFileSync(new URL(`./inside/${name}.js`, import.meta.url), 'utf8'),
)

/** The name of the user's code in stack traces; `inside/core.js` reads line numbers by it. */
const codeFile = 'code'

const opening = '(async function (args) {'

export interface Inside {
  /** The code compiled to a function; an error's description if it cannot be parsed. */
  compile(code: string): { compiled: QuickJSHandle } | { problem: string }
  /** Calls the compiled code; the promise only says whether that has ended. */
  start(compiled: QuickJSHandle, argumentJson: string): QuickJSHandle
  /** Delivers what the code is waiting for, as the JSON of an answer. */
  wake(id: number, answerJson: string): void
}

/** `host` is called with a name and JSON, and must not throw; it returns JSON. */
export function prepareInside(context: QuickJSContext, host: (name: string, json: string) => string): Inside {
  const hostHandle = context.newFunction('host', (name, json) =>
    context.newString(host(context.getString(name), context.getString(json))),
  )
  const parts = call(installerIn(core), hostHandle)
  for (const extension of extensions) call(installerIn(extension), parts)

  function installerIn(source = ''): QuickJSHandle {
    // Not run as a module: the code could then import it by its name in stack traces.
    const script = `(() => {'use strict';${source.replace(/^export /m, '')}\nreturn install })()`
    return context.unwrapResult(context.evalCode(script, 'inside'))
  }

  function call(callee: QuickJSHandle, ...values: QuickJSHandle[]): QuickJSHandle {
    return context.unwrapResult(context.callFunction(callee, context.undefined, ...values))
  }

  const start = context.getProp(parts, 'start')
  const wake = context.getProp(parts, 'wake')
  const describe = context.getProp(parts, 'describe')

  return {
    compile(code) {
      const result = context.evalCode(`${opening}${code.toWellFormed()}\n})`, codeFile)
      if (result.error) {
        const stack = context.getString(context.getProp(result.error, 'stack'))
        return { problem: withinCode(code, context.getString(call(describe, result.error)), stack) }
      }
      if (context.typeof(result.value) === 'function') return { compiled: result.value }
      return { problem: 'SyntaxError: the code is not the body of a function; look for a brace too many.' }
    },
    start: (compiled, argumentJson) => call(start, compiled, context.newString(argumentJson)),
    wake(id, answerJson) {
      call(wake, context.newNumber(id), context.newString(answerJson))
    },
  }
}

/**
 * The line and column of the problem within the code. If the code leaves a bracket open, or closes one too early, the error is
 * in the line after its last, where the wrapper's own bracket is.
 */
function withinCode(code: string, problem: string, stack: string): string {
  const lines = code.split('\n')
  const [, line = 1, column = 1] = (/code:(\d+):(\d+)/.exec(stack) ?? []).map(Number)
  const isAfter = line > lines.length
  const own = isAfter
    ? (lines.at(-1)?.length ?? 0) + 1
    : Math.max(1, line === 1 ? column - opening.length : column)
  return problem.replace(/ \(line \d+\)$/, ` (line ${Math.min(line, lines.length)}, column ${own})`)
}
