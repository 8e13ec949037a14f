import { chmodSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { runProgram } from '../support/run-program.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const program = new URL('../../src/sign-in.ts', import.meta.url)

/** Runs the command beside the service, with the same data. */
async function makeToken(dataDirectory: string, email: string): Promise<string> {
  const { code, stdout, stderr } = await runProgram(program, { DATA_DIR: dataDirectory, PORT: '4711' }, email)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:4711\/sign-in#token=[\w-]{43}\nIt signs in \S+, once, /)
  return stdout.split(/[=\n]/)[1] ?? ''
}

const redeem = (server: ServerProcess, token: string) =>
  server.call<{ user: { email: string } }>('POST', '/api/auth/link', { body: { token } })

it('a link that the command makes beside the running service signs in once', async () => {
  const dataDirectory = temporaryDirectory()
  await using server = await startServerProcess({
    dataDirectory,
    environment: { DEV_USER: 'me@example.com' },
  })
  const token = await makeToken(dataDirectory, 'Ada@example.com')
  expect(await redeem(server, token)).toMatchObject({
    status: 200,
    body: { user: { email: 'ada@example.com' } },
  })
  expect((await redeem(server, token)).status).toBe(403)
  const files = readdirSync(dataDirectory, { recursive: true, withFileTypes: true }).filter(file =>
    file.isFile(),
  )
  for (const { parentPath, name } of files)
    expect(readFileSync(join(parentPath, name)).includes(token)).toBe(false)
})

it('the command ends sessions and personal keys, while the service runs and before it starts', async () => {
  const dataDirectory = temporaryDirectory()
  const environment = { HOST: '127.0.0.1' }
  const own = { 'sec-fetch-site': 'same-origin' }
  const enter = async (server: ServerProcess) => {
    const { headers } = await redeem(server, await makeToken(dataDirectory, 'ada@example.com'))
    return { cookie: String(headers['set-cookie']).split(';')[0] ?? '', ...own }
  }
  const userOf = async (server: ServerProcess, headers: Record<string, string>) => {
    const { body } = await server.call<{ user: object | null }>('GET', '/api/auth/me', { headers })
    return body.user
  }
  const revoke = async () => {
    const variables = { DATA_DIR: dataDirectory }
    const { code, stdout } = await runProgram(program, variables, '--revoke', 'Ada@example.com')
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('ada@example.com end'),
    })
  }
  await using first = await startServerProcess({ dataDirectory, environment })
  const headers = await enter(first)
  const body = { name: 'CI' }
  const made = await first.call<{ key: string }>('POST', '/api/auth/keys', { headers, body })
  const bearer = { authorization: `Bearer ${made.body.key}` }
  expect(await userOf(first, headers)).toMatchObject({ email: 'ada@example.com' })
  await revoke()
  await eventually(async () => expect(await userOf(first, headers)).toBeNull())
  expect((await first.call('GET', '/api/auth/me', { headers: bearer })).status).toBe(401)
  const again = await enter(first)
  expect(await userOf(first, again)).not.toBeNull()
  await first.stop()
  await revoke()
  await using second = await startServerProcess({ dataDirectory, environment })
  await eventually(async () => expect(await userOf(second, again)).toBeNull())
})

it('the command says what is wrong', async () => {
  const none = await runProgram(program, { DATA_DIR: '/nowhere/at/all' }, 'ada@example.com')
  expect(none).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^There is no link: there is no data directory /),
  })
  const usage = await runProgram(program, { DATA_DIR: temporaryDirectory() })
  expect(usage).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('npm run sign-in -- you@example.com'),
  })
  const readOnly = temporaryDirectory()
  chmodSync(readOnly, 0o500)
  const refused = await runProgram(program, { DATA_DIR: readOnly }, 'ada@example.com')
  if (process.getuid?.() !== 0) expect(refused).toMatchObject({ code: 1, stdout: '' })
})

it('kill -9 while links are redeemed a hundred at a time gives none of them to two', async () => {
  const dataDirectory = temporaryDirectory()
  const environment = { DEV_USER: 'me@example.com' }
  await using first = await startServerProcess({ dataDirectory, environment })
  const tokens = await Promise.all(
    ['a', 'b', 'c', 'd', 'e', 'f'].map(name => makeToken(dataDirectory, `${name}@example.com`)),
  )
  const won = new Map(tokens.map(token => [token, 0]))
  const attempts = (server: ServerProcess, token: string) =>
    Array.from({ length: 100 }, async () => {
      const { status } = await redeem(server, token).catch(() => ({ status: 0 }))
      if (status === 200) won.set(token, (won.get(token) ?? 0) + 1)
      return status
    })
  const running = tokens.flatMap(token => attempts(first, token))
  await Promise.race(running)
  await first.kill()
  await Promise.all(running)
  await using second = await startServerProcess({ dataDirectory, environment })
  for (const token of tokens) await Promise.all(attempts(second, token))
  expect([...won.values()].every(count => count <= 1)).toBe(true)
  expect([...won.values()].filter(count => count === 1).length).toBeGreaterThan(0)
  const statuses = await Promise.all(tokens.flatMap(token => attempts(second, token)))
  expect(new Set(statuses)).toEqual(new Set([403]))
})
