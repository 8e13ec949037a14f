/**
 * The service, with defects: nothing catches what it throws for requests with the header `x-throw` (`early`, or `late` when
 * the answer has begun), in its first execution of a workflow, and in the name of nothing after SIGUSR2.
 */
import { ServerResponse } from 'node:http'

const fail = (where: string) => {
  throw new Error(`thrown ${where}`)
}
const { on, write } = ServerResponse.prototype
const given = ({ req }: ServerResponse) => req.headers['x-throw']
const isCalledBy = (file: string) => new Error('where').stack?.includes(file)

ServerResponse.prototype.on = function (this: ServerResponse, ...[name, listener]: Parameters<typeof on>) {
  // Node listens as well, before there is a request.
  const isRequest = name === 'finish' && isCalledBy('http/closing.ts')
  if (isRequest && given(this) === 'early') process.nextTick(fail, 'before an answer')
  if (isRequest && given(this) === 'rejected') void Promise.reject(new Error('rejected by nobody'))
  return on.call(this, name, listener)
} as typeof on
ServerResponse.prototype.write = function (this: ServerResponse, ...chunk: Parameters<typeof write>) {
  if (given(this) === 'late') process.nextTick(fail, 'in an answer')
  return write.apply(this, chunk)
} as typeof write

const { setInterval } = globalThis
let isFirst = true
// The heartbeat of a job.
globalThis.setInterval = ((...parameters: Parameters<typeof setInterval>) => {
  if (isFirst && isCalledBy('jobs/runner.ts')) {
    isFirst = false
    setTimeout(fail, 0, 'in a job')
  }
  return setInterval(...parameters)
}) as typeof setInterval
process.on('SIGUSR2', () => setTimeout(fail, 0, 'in the name of nothing'))

await import('../../../src/main.ts')
