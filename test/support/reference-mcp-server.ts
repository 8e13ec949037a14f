/** The reference MCP server from npm, as a process of its own. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { onTestFinished } from 'vitest'

const program = new URL(
  '../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
  import.meta.url,
).pathname

export interface ReferenceServer {
  /** Of its MCP endpoint. */
  url: string
  /** As a crash, and waits for the end. */
  kill(): Promise<void>
}

/** Starts it on a port, a free one unless given, and waits until it listens. */
export async function startReferenceServer(
  transport: 'streamableHttp' | 'sse',
  port?: number,
): Promise<ReferenceServer> {
  const chosen = port ?? (await freePort())
  const child = spawn(process.execPath, [program, transport], {
    env: { PORT: String(chosen) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'close')
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(kill)
  const listens = Promise.withResolvers<void>()
  let printed = ''
  child.stderr.setEncoding('utf8').on('data', text => {
    printed += text
    if (printed.includes('port')) listens.resolve()
  })
  void ended.then(() => listens.reject(new Error(`The reference server ended early: ${printed}`)))
  await listens.promise
  return { url: `http://127.0.0.1:${chosen}/${transport === 'sse' ? 'sse' : 'mcp'}`, kill }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
