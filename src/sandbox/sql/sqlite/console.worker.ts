/**
 * The process in which agents' SQL runs: with an empty environment, no permission to read other files from JavaScript,
 * and killed whenever a statement takes too long.
 */
import { Worker } from 'node:worker_threads'
import { type Connection, connect } from './connection.ts'
import { execute } from './execute.ts'
import type { Answer, FromChild, ToChild } from './messages.ts'

const [synchronous = 'normal'] = process.argv.slice(2)

// Ends the process with its parent, even in the middle of a statement.
new Worker(new URL('lifeline.worker.ts', import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: 16 } })

let open: { path: string; connection: Connection } | undefined

process.on('message', (message: ToChild) => {
  send(answer(message))
})
process.on('disconnect', () => process.exit())
send('ready')

function send(message: FromChild): void {
  process.send?.(message)
}

function answer({ path, statement }: ToChild): Answer {
  try {
    const outcome = execute(connectionTo(path), statement)
    return 'kind' in outcome ? { problem: outcome } : { result: outcome }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { problem: { kind: 'failed', message: `The database can't be used: ${reason}.` } }
  }
}

function connectionTo(path: string): Connection {
  if (open?.path === path) return open.connection
  open?.connection.close()
  open = undefined
  const connection = connect(path, synchronous)
  open = { path, connection }
  return connection
}
