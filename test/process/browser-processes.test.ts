import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { expect, it } from 'vitest'
import { browserProcesses } from '../support/browser-stage.ts'
import { eventually } from '../support/eventually.ts'
import { startServerProcess } from '../support/server-process.ts'
import { shareChromium } from '../support/shared-chromium.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const path = '/api/agents/default/browser'

/** With the locks beside them. */
function profileFolders(pid: number | undefined): string[] {
  return readdirSync(tmpdir()).filter(name => name.startsWith(`agentstead-browser-${pid}-`))
}

it('a killed service leaves no browser, and after the next start no session and no folder of one', async () => {
  const dataDirectory = temporaryDirectory()
  shareChromium(dataDirectory)
  const environment = { TMPDIR: tmpdir(), DEV_USER: 'dev@example.com' }
  await using server = await startServerProcess({ dataDirectory, environment })
  const { id } = (await server.call<{ id: string }>('POST', path, { body: {} })).body
  const { pid } = server.process
  const before = browserProcesses(pid)
  expect(before.length).toBeGreaterThan(2)
  await server.kill()
  const groups = before.map(({ group }) => group)
  await eventually(() => expect(browserProcesses(pid, groups)).toEqual([]))
  expect(profileFolders(pid)).toHaveLength(2)

  await using again = await startServerProcess({ dataDirectory, environment })
  expect((await again.call('GET', `${path}/${id}`)).body).toMatchObject({ status: 'error' })
  await eventually(() => expect(profileFolders(pid)).toEqual([]))
  const { pid: second } = again.process
  expect((await again.call('POST', path, { body: {} })).status).toBe(201)
  expect(await again.stop()).toBe(0)
  expect([browserProcesses(second), profileFolders(second)]).toEqual([[], []])
})
