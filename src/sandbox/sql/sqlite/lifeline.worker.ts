/**
 * Ends this thread's process when its parent has ended, or when it uses too much memory. The main thread
 * cannot do so, because it is inside SQLite while a statement runs.
 */
import { Socket } from 'node:net'
import { lifelineNumber } from './messages.ts'

/** Bytes. */
const memoryLimit = 512 * 1024 * 1024
/** Milliseconds. */
const lookEvery = 50

const kill = () => process.kill(process.pid, 'SIGKILL')

const lifeline = new Socket({ fd: lifelineNumber, readable: true })
lifeline.on('close', kill)
lifeline.on('error', kill)
lifeline.resume()
setInterval(() => {
  if (process.memoryUsage.rss() > memoryLimit) kill()
}, lookEvery)
