import { withNumbersAsText } from '#platform/exact-json.ts'
import { bounds } from './limits.ts'
import type { Answer, RunTask, SandboxAnswer, SandboxRequest, ToMain } from './messages.ts'

interface PendingOptions extends Pick<RunTask, 'limits'> {
  send(message: ToMain): void
  /** Called when a timer or request has ended, with the JSON of its answer. */
  wake(id: number, answerJson: string): void
}

export type Pending = ReturnType<typeof createPending>

/** Creates the timers of this thread that the code waits for, and its requests, sent by the main thread. */
export function createPending({ limits, send, wake }: PendingOptions) {
  const timers = new Map<number, NodeJS.Timeout>()
  const requests = new Set<number>()
  let sentRequests = 0
  let isOver = false

  /**
   * The code can make two of its numbers equal, and further jobs can run after the one in which it ended:
   * those that they start would not be counted, and would keep the engine alive after the run.
   */
  function requireNew(id: number): void {
    if (isOver) throw new TypeError('The run has ended.')
    if (timers.has(id) || requests.has(id)) throw new TypeError('This number is in use.')
  }

  return {
    startTimer(id: number, delay: number): void {
      requireNew(id)
      if (timers.size >= bounds.timers) throw new TypeError(`More than ${bounds.timers} timers are waiting.`)
      const ring = () => {
        timers.delete(id)
        wake(id, '[true, null]')
      }
      // A longer delay ends with the run anyway, and Node would turn it into none.
      timers.set(id, setTimeout(ring, Math.max(0, Math.min(delay, limits.wallMs * 2))))
    },

    /** Returns true if that timer existed. */
    stopTimer(id: number): boolean {
      clearTimeout(timers.get(id))
      return timers.delete(id)
    },

    startRequest(id: number, request: SandboxRequest): void {
      requireNew(id)
      if (sentRequests >= limits.requests) {
        throw new TypeError(`Code may send ${limits.requests} requests in one call, and this was one more.`)
      }
      sentRequests += 1
      requests.add(id)
      send({ kind: 'request', id, request })
    },

    answer(id: number, answer: Answer<SandboxAnswer>): void {
      if (!requests.delete(id)) return
      const [isAnswered, value] = answer
      const json = isAnswered ? withNumbersAsText(value.text) : undefined
      const isSame = !isAnswered || json === value.text
      wake(id, JSON.stringify(isSame ? answer : [true, { ...value, json }]))
    },

    isEmpty(): boolean {
      return timers.size + requests.size === 0
    },

    /** Ends all timers and requests: none starts afterwards. */
    end(): void {
      isOver = true
      for (const timer of timers.values()) clearTimeout(timer)
      timers.clear()
      requests.clear()
    },
  }
}
