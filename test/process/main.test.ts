import { execFile, spawn } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, openSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { eventually } from '../support/eventually.ts'
import { runProgram } from '../support/run-program.ts'
import { startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const mainFile = new URL('../../src/main.ts', import.meta.url)

function run(environment: Record<string, string>) {
  return runProgram(mainFile, { PORT: '0', LOG_LEVEL: 'warn', ...environment })
}

/** What `npm start` gives to Node, with another program than the service. */
const startedWith = (program: string) => manifest.scripts.start.split(' ').slice(2).with(-1, program)

const newKey = () => randomBytes(32).toString('base64')

describe('a start', () => {
  it('that succeeds prints one line with the address, and one with the first sign-in link, and answers there', async () => {
    const dataDirectory = temporaryDirectory()
    const environment = { LOG_LEVEL: 'warn' }
    await using server = await startServerProcess({ dataDirectory, environment, program: 'main' })
    await eventually(() =>
      expect(server.output()).toMatch(
        /^agentstead is ready at (http:\/\/127\.0\.0\.1:\d+)\nSign in as owner@localhost .*: \1\/sign-in#token=[\w-]{43}\n$/,
      ),
    )
    for (const path of ['/healthz', '/readyz', '/api/agents/default'])
      expect((await server.call('GET', path)).status).toBe(200)
  })

  it('names the public address where there is one', async () => {
    const environment = { LOG_LEVEL: 'warn', BASE_URL: 'https://agents.example/' }
    await using server = await startServerProcess({ dataDirectory: temporaryDirectory(), environment })
    expect(server.url).toBe('https://agents.example')
  })

  it('makes a data directory and a key that nobody else can read', async () => {
    const dataDirectory = join(temporaryDirectory(), 'deep', 'data')
    await using _server = await startServerProcess({ dataDirectory })
    expect(statSync(dataDirectory).mode & 0o777).toBe(0o700)
    expect(statSync(join(dataDirectory, 'encryption.key')).mode & 0o777).toBe(0o600)
  })

  it('with a wrong configuration ends with exit code 2 and all problems, and touches nothing', async () => {
    const dataDirectory = join(temporaryDirectory(), 'data')
    const { code, stdout, stderr } = await run({
      DATA_DIR: dataDirectory,
      PORT: 'http',
      LOG_LEVEL: 'loud',
      DEV_USER: 'me@example.com',
      HOST: '0.0.0.0',
      ENCRYPTION_KEY: 'hunter2',
    })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr.split('\n')).toEqual([
      'The configuration is wrong:',
      expect.stringMatching(/^ {2}- PORT must be a whole number.*"http"\.$/),
      expect.stringMatching(/^ {2}- LOG_LEVEL must be one of/),
      '  - ENCRYPTION_KEY must be 32 bytes in base64.',
      expect.stringMatching(/^ {2}- DEV_USER must not be set while HOST \(0\.0\.0\.0\)/),
      '',
    ])
    expect(existsSync(dataDirectory)).toBe(false)
  })

  it('with another key than the data’s, or none, ends with exit code 1 and a sentence', async () => {
    const dataDirectory = temporaryDirectory()
    const environment = { ENCRYPTION_KEY: newKey() }
    await using server = await startServerProcess({ dataDirectory, environment })
    await server.stop()
    const other = newKey()
    const { code, stdout, stderr } = await run({ DATA_DIR: dataDirectory, ENCRYPTION_KEY: other })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^agentstead could not start: The encryption key is not the one .*\n$/)
    expect(stderr).not.toContain(other)
    const none = await run({ DATA_DIR: dataDirectory })
    expect([none.code, none.stdout]).toEqual([1, ''])
    expect(none.stderr).toMatch(/^agentstead could not start: The encryption key is missing .*\n$/)
    expect(readdirSync(dataDirectory)).not.toContain('encryption.key')
    await using again = await startServerProcess({ dataDirectory, environment })
    expect((await again.call('GET', '/readyz')).status).toBe(200)
  })

  it('on a port in use ends with exit code 1 and a sentence, and gives the data directory free', async () => {
    const occupied = createServer()
    await new Promise<void>(resolve => occupied.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void occupied.close())
    const port = String((occupied.address() as AddressInfo).port)
    const dataDirectory = temporaryDirectory()
    const { code, stdout, stderr } = await run({ DATA_DIR: dataDirectory, PORT: port })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toBe(
      `agentstead could not start: port ${port} of 127.0.0.1 is in use by another program. ` +
        'Stop that program, or set PORT to another port.\n',
    )
    await using server = await startServerProcess({ dataDirectory })
    expect((await server.call('GET', '/readyz')).status).toBe(200)
  })

  it('on an address of another machine ends with exit code 1 and a sentence', async () => {
    const { code, stderr } = await run({ DATA_DIR: temporaryDirectory(), HOST: '203.0.113.7' })
    expect(code).toBe(1)
    expect(stderr).toContain('203.0.113.7 is not an address of this machine. Set HOST')
  })

  it('on the data directory of a running server ends with exit code 1 and a sentence', async () => {
    const dataDirectory = temporaryDirectory()
    await using server = await startServerProcess({ dataDirectory })
    const { code, stderr } = await run({ DATA_DIR: dataDirectory })
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^agentstead could not start: The data directory .* is in use by another process\. .*\n$/,
    )
    expect((await server.call('GET', '/readyz')).status).toBe(200)
  })
})

it('the code of a thread is kept compiled for the next start as the program’s is', async () => {
  const tell = `
    const { getCompileCacheDir } = process.getBuiltinModule('node:module')
    const { isMainThread, Worker } = process.getBuiltinModule('node:worker_threads')
    console.log(getCompileCacheDir())
    if (isMainThread) new Worker(__filename)`
  const program = join(temporaryDirectory(), 'tell.cjs')
  writeFileSync(program, tell)
  // Without the variable by which tests keep what they compile themselves.
  const { NODE_COMPILE_CACHE: _, ...env } = process.env
  const { stdout } = await promisify(execFile)(process.execPath, startedWith(program), { env })
  const [ofProgram, ofThread] = stdout.split('\n')
  expect(ofProgram).toContain('node_modules/.cache/agentstead')
  expect(ofThread).toBe(ofProgram)
})

describe('a warning', () => {
  const start = (environment: Record<string, string>) =>
    startServerProcess({
      dataDirectory: temporaryDirectory(),
      environment: { LOG_LEVEL: 'warn', ...environment },
    })
  const warning = 'Everybody who reaches this address may change the agent'

  it('is given where strangers can change the agent that is open to all', async () => {
    await using server = await start({ HOST: '0.0.0.0' })
    expect(server.output()).toContain(warning)
  })

  it.each<Record<string, string>>([
    {},
    { HOST: '0.0.0.0', PUBLIC_ACCESS: 'chat' },
    { HOST: '0.0.0.0', GATEWAY_JWKS_URL: 'http://127.0.0.1:1/certs', GATEWAY_AUDIENCE: 'x' },
  ])('is not given where they cannot: %j', async environment => {
    await using server = await start(environment)
    expect(server.output()).not.toContain(warning)
  })
})

it('a start says what callers without a role may do, and which agents OIDC_ROLES names in vain', async () => {
  const oidc = { OIDC_ISSUER: 'http://127.0.0.1:1', OIDC_CLIENT_ID: 'agents', OIDC_GROUPS_CLAIM: 'groups' }
  await using server = await startServerProcess({
    dataDirectory: temporaryDirectory(),
    environment: { ...oidc, LOG_LEVEL: 'info', OIDC_ROLES: 'leads=handbook:admin' },
  })
  const lines = [
    'Callers without a user may do everything but manage',
    'OIDC_ROLES names agents that are not there',
  ]
  for (const line of lines) await vi.waitUntil(() => server.output().includes(line), { timeout: 60_000 })
})

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', signal => {
  it('ends the service with exit code 0, and frees its data for the next', async () => {
    const dataDirectory = temporaryDirectory()
    await using server = await startServerProcess({ dataDirectory })
    await server.call('POST', '/api/agents/default/chat', { body: { content: 'Hello' } })
    const begun = performance.now()
    server.process.kill(signal)
    server.process.kill(signal)
    expect(await server.ended).toBe(0)
    expect(performance.now() - begun).toBeLessThan(10_000)
    await using next = await startServerProcess({ dataDirectory })
    expect((await next.call('GET', '/api/agents/default')).body).toMatchObject({ stats: { messages: 2 } })
  })
})

it('SIGTERM ends the service also while a thread is busy in native code, which nothing can interrupt', async () => {
  const program = `import { writeSync } from 'node:fs'
    import { DatabaseSync } from 'node:sqlite'
    import { isMainThread } from 'node:worker_threads'
    if (!isMainThread) {
      writeSync(2, 'a thread is busy')
      new DatabaseSync(':memory:').exec('with recursive n (i) as (select 1 union all select i + 1 from n) select max(i) from n')
    }`
  const NodeOptions = `--import=data:text/javascript,${encodeURIComponent(program)}`
  await using server = await startServerProcess({
    dataDirectory: temporaryDirectory(),
    environment: { NODE_OPTIONS: NodeOptions },
  })
  const body = { type: 'database', name: 'one', query: 'SELECT 1 AS one' }
  await server.call('POST', '/api/agents/default/sources', { body })
  await expect.poll(() => server.output()).toContain('a thread is busy')
  expect(await server.stop()).toBeNull()
  expect(server.process.signalCode).toBe('SIGKILL')
})

it('SIGTERM does not wait for an MCP server that never answers', async () => {
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => void silent.close().closeAllConnections())
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const environment = { OUTBOUND_ALLOW: '127.0.0.1' }
  await using server = await startServerProcess({ dataDirectory: temporaryDirectory(), environment })
  const caller = new AbortController()
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'silent', url })
  const registration = fetch(`${server.url}/api/agents/default/mcp`, {
    method: 'POST',
    headers,
    body,
    signal: caller.signal,
  })
  await once(silent, 'request')
  caller.abort()
  await expect(registration).rejects.toThrow('aborted')
  expect(await server.stop()).toBe(0)
})

describe('a log that cannot be written', () => {
  /** A file of the system that is there to be full. */
  const fullDisk = '/dev/full'

  it.runIf(existsSync(fullDisk))(
    'as on a full disk, neither stops the service nor keeps it from ending',
    async () => {
      const { address, stop } = await startLoggingTo(openSync(fullDisk, 'w'))
      for (let request = 0; request < 3; request += 1)
        expect((await fetch(`${address}/readyz`)).status).toBe(200)
      expect(await stop()).toEqual([0, null])
    },
  )

  it('since nobody empties the pipe, neither stops the service nor keeps it from ending', async () => {
    const { address, stop } = await startLoggingTo('pipe')
    const path = 'x'.repeat(8000)
    // More than a pipe and both its ends hold.
    for (let request = 0; request < 100; request += 1)
      expect((await fetch(`${address}/${path}`)).status).toBe(404)
    expect(await stop()).toEqual([0, null])
  })
})

/** In milliseconds. Far more than a start takes, since the machine may be busy with other tests. */
const startLimit = 240_000

/** Starts the service with a standard output from which nobody reads. */
async function startLoggingTo(stdout: number | 'pipe') {
  const port = await freePort()
  const child = spawn(process.execPath, startedWith('src/main.ts'), {
    env: { PORT: String(port), DATA_DIR: temporaryDirectory() },
    stdio: ['ignore', stdout, 'inherit'],
  })
  const ended = once(child, 'exit')
  onTestFinished(() => void child.kill('SIGKILL'))
  const address = `http://127.0.0.1:${port}`
  // Its ready line can't be read.
  await vi.waitFor(() => fetch(`${address}/readyz`), { timeout: startLimit, interval: 50 })
  return {
    address,
    stop() {
      child.kill('SIGTERM')
      return ended
    },
  }
}

/** Below those that systems give to whoever asks for any port, so that nobody else gets it until the service takes it. */
async function freePort(): Promise<number> {
  const port = randomInt(20_000, 32_000)
  const holder = createServer().listen(port, '127.0.0.1')
  const isFree = await once(holder, 'listening').then(
    () => true,
    () => false,
  )
  if (!isFree) return freePort()
  holder.close()
  await once(holder, 'close')
  return port
}
