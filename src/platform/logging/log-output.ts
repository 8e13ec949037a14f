import { write, writeSync } from 'node:fs'

const standardOutput = 1
/** Characters of lines that wait to be written; what comes beyond them is lost. */
const maxWaiting = 1024 * 1024
/** Milliseconds after which it is tried again to write what could not be written. */
const pause = 100
/** How often that is tried when the process ends. */
const lastAttempts = 5

/**
 * Standard output may be a file on a disk that is full, or a pipe without a reader: that is no reason to stop the
 * service, which goes on and writes once it can, nor for it to stay when it is to end.
 */
export function createLogOutput(): { write(line: string): void } {
  let waiting = ''
  /** The rest of the lines whose turn it is to be written. */
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

  /** A write under way still ends by itself. */
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
