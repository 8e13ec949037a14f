import { write, writeSync } from 'node:fs'

const standardOutput = 1
/** Max characters of waiting lines; further ones are lost. */
const maxWaiting = 1024 * 1024
/** Pause before a failed write is retried (ms). */
const pause = 100
/** Number of retries when the process ends. */
const lastAttempts = 5

/**
 * Creates an output that survives a full disk or a pipe without a reader: the service continues, and writes
 * once it can; nor do they keep it from ending.
 */
export function createLogOutput(): { write(line: string): void } {
  let waiting = ''
  /** The rest of the lines that are being written. */
  let rest: Uint8Array = Buffer.alloc(0)
  let state: 'unused' | 'idle' | 'writing' | 'pausing' = 'unused'

  function writeOn(): void {
    if (rest.length === 0) {
      rest = Buffer.from(waiting)
      waiting = ''
    }
    state = rest.length === 0 ? 'idle' : 'writing'
    if (state === 'writing') write(standardOutput, rest, afterWrite)
  }

  function afterWrite(error: Error | null, bytes: number): void {
    if (error === null) {
      rest = rest.subarray(bytes)
      writeOn()
      return
    }
    state = 'pausing'
    setTimeout(writeOn, pause).unref()
  }

  /** Writes waiting lines now; a running write still ends by itself. */
  function writeLast(): void {
    const left = Buffer.concat([state === 'writing' ? Buffer.alloc(0) : rest, Buffer.from(waiting)])
    writeNow(left)
  }

  return {
    write(line) {
      if (waiting.length + rest.length + line.length > maxWaiting) return
      waiting += line
      if (state === 'unused') process.once('exit', writeLast)
      if (state === 'unused' || state === 'idle') writeOn()
    },
  }
}

function writeNow(bytes: Uint8Array): void {
  const asleep = new Int32Array(new SharedArrayBuffer(4))
  let left = bytes
  for (let attempts = 0; attempts < lastAttempts && left.length > 0; )
    try {
      left = left.subarray(writeSync(standardOutput, left))
    } catch {
      attempts += 1
      Atomics.wait(asleep, 0, 0, pause)
    }
}
