/** The service with its browser sessions, which no call of the API hands out, and the processes behind these. */
import { readdirSync, readFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { BrowserSession } from '#features/browser/sessions/browser-session.ts'
import type { TestApp } from './build-app.ts'

type Callable = Pick<TestApp, 'call'>

/** Of all test files of this process, which share the class. */
const opening: Promise<BrowserSession>[] = []
const { open } = BrowserSession
BrowserSession.open = (...given) => {
  const session = open.apply(BrowserSession, given)
  opening.push(session)
  return session
}

interface OpenedSession {
  id: string
  path: string
  session: BrowserSession
}

type Wanted = { agentId?: string } & Record<string, unknown>

/** Opens a session over HTTP, to be ended with the test; gives its id, and what acts in it. */
export async function openSession(app: Callable, wanted: Wanted = {}): Promise<OpenedSession> {
  const opened = await openLastingSession(app, wanted)
  // The test may have ended the service.
  onTestFinished(async () => {
    const [path] = opened.path.split(`/${opened.id}`)
    await app.call('DELETE', `${path}?id=${opened.id}`).catch(() => {})
  })
  return opened
}

/** The same, to be ended with the service. */
export async function openLastingSession(
  app: Callable,
  { agentId = 'default', ...body }: Wanted = {},
): Promise<OpenedSession> {
  const path = `/api/agents/${agentId}/browser`
  const answer = await app.call<{ id: string }>('POST', path, { body })
  const { id } = answer.body
  const all = await Promise.allSettled(opening)
  const session = all.flatMap(one => (one.status === 'fulfilled' ? one.value : [])).find(one => one.id === id)
  if (session === undefined) throw new Error(`No session was opened: ${JSON.stringify(answer)}`)
  return { id, path: `${path}/${id}`, session }
}

export interface BrowserProcess {
  pid: number
  /** The same for all processes of one browser: the id of the first. */
  group: number
  commandLine: string
  environment: string
  user: number
}

/** Of each browser that the process has started the one that starts all others. */
export function mainProcesses(startedBy = process.pid): BrowserProcess[] {
  const isOurs = ({ commandLine }: BrowserProcess) => commandLine.includes(`agentstead-browser-${startedBy}-`)
  return allProcesses().filter(one => one.pid === one.group && isOurs(one))
}

/** All processes of browsers that the process has started, or of those with these first processes. */
export function browserProcesses(
  startedBy = process.pid,
  groups = mainProcesses(startedBy).map(({ pid }) => pid),
): BrowserProcess[] {
  return allProcesses().filter(({ group }) => groups.includes(group))
}

function allProcesses(): BrowserProcess[] {
  return readdirSync('/proc').flatMap(name => {
    try {
      if (!/^\d+$/.test(name)) return []
      const read = (file: string) => readFileSync(`/proc/${name}/${file}`, 'utf8')
      const [, , group] = read('stat').split(') ').at(-1)?.split(' ') ?? []
      const user = Number(/^Uid:\s+(\d+)/m.exec(read('status'))?.[1])
      const texts = { commandLine: read('cmdline'), environment: read('environ') }
      return [{ pid: Number(name), group: Number(group), ...texts, user }]
    } catch {
      // It has ended meanwhile.
      return []
    }
  })
}
