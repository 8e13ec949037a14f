/** The way of a newcomer through README.md, from the start of the service to an answer in a client of OpenAI's API. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const readme = readFileSync('README.md', 'utf8')
const [start, request, script] =
  /```sh\n([A-Z_]+=.+ npm start\n)```\n\n```sh\n(curl .+\n)```\n\n```ts\n(import [^`]+)```/
    .exec(readme)
    ?.slice(1) ?? []

it('leads to an answer as it is written', async () => {
  const environment = Object.fromEntries(
    Array.from(String(start).matchAll(/(\w+)=(\S+)/g), found => found.slice(1)),
  )
  expect(Object.keys(environment)).toEqual(['DEV_USER'])
  await using server = await startServerProcess({ dataDirectory: temporaryDirectory(), environment })
  const [, path = '', body = ''] =
    /^curl http:\/\/127\.0\.0\.1:8080(\S+) .* -d '(.+)'$/m.exec(String(request)) ?? []
  const made = await server.call<{ key: string }>('POST', path, { body: JSON.parse(body) })
  expect(made.status).toBe(201)
  const here = String(script).replace('http://127.0.0.1:8080', server.url).replace('YOUR-KEY', made.body.key)
  const { stdout } = spawn(process.execPath, ['--input-type=module-typescript', '--eval', here])
  expect(await text(stdout)).toMatch(/document/)
  const { body: keys } = await server.call('GET', path)
  expect(keys).toMatchObject({ keys: [{ name: 'My laptop', last_used_at: expect.any(String) }] })
})
