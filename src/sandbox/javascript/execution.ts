/** One run of code in an engine, as seen from the thread. Only text crosses the boundary between the two. */

import type { QuickJSHandle } from 'quickjs-emscripten-core'
import { withNumbersAsText } from '#platform/exact-json.ts'
import { createConsoleOutput } from './console-output.ts'
import { takeEngine } from './engine.ts'
import { createHost, outOfMemory, threw } from './host.ts'
import type { Answer, RunTask, SandboxAnswer, ToMain } from './messages.ts'
import type { Ending } from './outcome.ts'
import { createPending } from './pending.ts'
import { beat, beatMs } from './pulse.ts'
import { createTimeBudget, wallExceeded } from './time-budget.ts'

interface ExecutionTask extends Omit<RunTask, 'port'> {
  send(message: ToMain): void
}

export interface Execution {
  /** Runs the code until its end, of any kind. */
  run(): Promise<Ending>
  /** Answers the request with this id. */
  answer(id: number, answer: Answer<SandboxAnswer>): void
}

export async function createExecution(task: ExecutionTask): Promise<Execution> {
  const { code, argumentJson, limits, pulse, onlyCompiles, send } = task
  const { promise: ending, resolve } = Promise.withResolvers<Ending>()
  const pending = createPending({ limits, send, wake: (id, json) => enter(() => engine.wake(id, json)) })
  const write = createConsoleOutput(line => send({ kind: 'console', line }))
  let isOver = false
  let isBroken = false
  let isInterrupted = () => isOver
  const engine = await takeEngine({
    host: createHost({ limits, pending, write, end, isFull: () => engine.isFull() }),
    isInterrupted: () => isInterrupted(),
  })
  const budget = createTimeBudget(limits)
  isInterrupted = () => {
    beat(pulse)
    return isOver || budget.exceeded() !== undefined
  }
  /** The promise of the whole run; the run reports its ending to the host before the promise settles. */
  let promise: QuickJSHandle | undefined

  /** The first ending counts, except that a run which catches its interruption still ends as interrupted. */
  function end(how: Ending): void {
    if (isOver) return
    isOver = true
    pending.end()
    const exceeded = budget.exceeded()
    resolve(exceeded === undefined ? how : { outcome: 'timed-out', message: exceeded })
  }

  /** Runs the code until it waits, unless its engine has thrown into its host: it might be broken. */
  function enter(step: () => void): void {
    if (isOver) return
    try {
      step()
      while (!isInterrupted() && engine.runJobs());
      if (budget.exceeded() !== undefined || pending.isEmpty()) end(stuck())
    } catch (error) {
      isBroken = true
      end(broken(error))
    }
  }

  /** Returns the ending of a run that nothing can continue. */
  function stuck(): Ending {
    if (promise === undefined || !engine.isPending(promise))
      return engine.isFull() ? outOfMemory() : threw('The code failed before it could say why.')
    return {
      outcome: 'never-settled',
      message:
        'The code waits for a promise that nothing can settle. Look for a resolve that is never called.',
    }
  }

  function broken(error: unknown): Ending {
    if (error instanceof RangeError) return threw('The code, or a value of it, is nested too deeply.')
    return engine.isFull()
      ? outOfMemory()
      : threw('The code could not go on: it broke the engine that runs it.')
  }

  return {
    async run() {
      const wallTimer = setTimeout(() => {
        end({ outcome: 'timed-out', message: wallExceeded(limits.wallMs) })
      }, limits.wallMs)
      const heart = setInterval(() => beat(pulse), beatMs)
      enter(() => {
        const result = engine.compile(code)
        if ('problem' in result) end(threw(result.problem))
        else if (onlyCompiles) end({ outcome: 'returned', json: 'null' })
        else promise = engine.start(result.compiled, withNumbersAsText(argumentJson))
      })
      const how = await ending
      clearTimeout(wallTimer)
      clearInterval(heart)
      engine.release(!isBroken && leavesSound(how))
      return how
    },
    answer: pending.answer,
  }
}

/** Returns true if no limit of the engine ended the run. */
function leavesSound(how: Ending): boolean {
  if (how.outcome === 'threw') return !how.message.startsWith('InternalError')
  return how.outcome === 'returned' || how.outcome === 'never-settled'
}
