/** Prepares an engine: the code in `inside/` runs there first, and is the only code that holds a reference to the host. */
import { readFileSync } from 'node:fs'
import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten-core'

const [core, ...extensions] = ['core', 'url', 'fetch', 'text', 'intl'].map(name =>
  readFileSync(new URL(`./inside/${name}.js`, import.meta.url), 'utf8'),
)

/** The name of the user's code in stack traces; `inside/core.js` reads line numbers by it. */
const codeFile = 'code'

/**
 * No text that closes the function early fits both: the first is followed only by statements, the second only
 * by a comma or the end of the object. So the code does not run before it is called.
 */
const openings = ['async function code(args) {', '({ async code(args) {'] as const

export interface Inside {
  /** Compiles the code to a function; returns an error's description if it cannot be parsed. */
  compile(code: string): { compiled: QuickJSHandle } | { problem: string }
  /** Calls the compiled code; the promise only reports its end. */
  start(compiled: QuickJSHandle, argumentJson: string): QuickJSHandle
  /** Delivers an awaited answer to the code, as JSON. */
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
    // The code is no module: it could then import it by its name in stack traces.
    const script = `(() => {'use strict';${source.replace(/^export /m, '')}\nreturn install })()`
    return context.unwrapResult(context.evalCode(script, 'inside'))
  }

  function call(callee: QuickJSHandle, ...values: QuickJSHandle[]): QuickJSHandle {
    return context.unwrapResult(context.callFunction(callee, context.undefined, ...values))
  }

  function problemOf(code: string, error: QuickJSHandle, opening: string): string {
    const stack = context.getString(context.getProp(error, 'stack'))
    return withinCode(code, context.getString(call(describe, error)), stack, opening.length)
  }

  const start = context.getProp(parts, 'start')
  const wake = context.getProp(parts, 'wake')
  const describe = context.getProp(parts, 'describe')

  return {
    compile(code) {
      const [asFunction, asMethod] = openings
      const body = code.toWellFormed()
      const parsed = context.evalCode(`${asFunction}${body}\n}`, codeFile, { compileOnly: true })
      if (parsed.error) return { problem: problemOf(code, parsed.error, asFunction) }
      const evaluated = context.evalCode(`${asMethod}${body}\n} }).code`, codeFile)
      if (evaluated.error) return { problem: problemOf(code, evaluated.error, asMethod) }
      return { compiled: evaluated.value }
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
function withinCode(code: string, problem: string, stack: string, columns: number): string {
  const lines = code.split('\n')
  const [, line = 1, column = 1] = (/code:(\d+):(\d+)/.exec(stack) ?? []).map(Number)
  const isAfter = line > lines.length
  const own = isAfter ? (lines.at(-1)?.length ?? 0) + 1 : Math.max(1, line === 1 ? column - columns : column)
  return problem.replace(/ \(line \d+\)$/, ` (line ${Math.min(line, lines.length)}, column ${own})`)
}
