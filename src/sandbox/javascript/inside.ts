/** Prepares an engine: what stands in `inside/` runs there first, and is the only thing there that holds a way out. */
import { readFileSync } from 'node:fs'
import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten-core'

const [core, ...extensions] = ['core', 'url', 'fetch', 'text'].map(name =>
  readFileSync(new URL(`./inside/${name}.js`, import.meta.url), 'utf8'),
)

/** The name of the user's code in stacks; `inside/core.js` reads lines from there. */
const codeFile = 'code'

export interface Inside {
  /** The code as a function; an error's description where it cannot be read. */
  compile(code: string): { compiled: QuickJSHandle } | { problem: string }
  /** Calls the compiled code; the promise never holds more than whether that has ended. */
  start(compiled: QuickJSHandle, argumentJson: string): QuickJSHandle
  /** Tells what the code waits for, as the JSON of an answer. */
  wake(id: number, answerJson: string): void
}

/** `host` is called with a name and JSON, and must not throw; what it returns is JSON. */
export function prepareInside(context: QuickJSContext, host: (name: string, json: string) => string): Inside {
  const hostHandle = context.newFunction('host', (name, json) =>
    context.newString(host(context.getString(name), context.getString(json))),
  )
  const parts = call(installerIn(core), hostHandle)
  for (const extension of extensions) call(installerIn(extension), parts)

  function installerIn(source = ''): QuickJSHandle {
    // Not run as the module that it is: the code could import that by the name in its stacks.
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
      const result = context.evalCode(`(async function (args) {${code.toWellFormed()}\n})`, codeFile)
      if (result.error) return { problem: withinLines(code, context.getString(call(describe, result.error))) }
      if (context.typeof(result.value) === 'function') return { compiled: result.value }
      return { problem: 'SyntaxError: the code is not the body of a function; look for a brace too many.' }
    },
    start: (compiled, argumentJson) => call(start, compiled, context.newString(argumentJson)),
    wake(id, answerJson) {
      call(wake, context.newNumber(id), context.newString(answerJson))
    },
  }
}

/** What the code leaves open or closes too early is missed in the line after its last, where our own bracket stands. */
function withinLines(code: string, problem: string): string {
  const lines = code.split('\n').length
  return problem.replace(/ \(line (\d+)\)$/, (_, line) => ` (line ${Math.min(Number(line), lines)})`)
}
