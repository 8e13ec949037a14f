import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openEmbeddedStorage } from '#test/support/embedded-storage.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import type { AgentHandle } from './agent-databases.ts'

const fact = { name: 'colour', value: 'blue' }

function write(agent: AgentHandle) {
  return agent.db.insertInto('agent_facts').values(fact).execute()
}

function read(agent: AgentHandle) {
  return agent.db.selectFrom('agent_facts').selectAll().execute()
}

test('each agent has a database of its own, which outlives the process', async () => {
  const path = temporaryDirectory()
  const before = await openEmbeddedStorage({ path })
  await before.addAgent('a')
  await before.addAgent('b')
  await before.agentDatabases.use('a', write)
  await before.close()

  const { agentDatabases } = await openEmbeddedStorage({ path })
  expect(await agentDatabases.use('a', read)).toEqual([fact])
  expect(await agentDatabases.use('b', read)).toEqual([])
})

test('a handle names the file for workers and the place of uploads', async () => {
  const { agentDatabases, addAgent, path } = await openEmbeddedStorage()
  await addAgent('a')
  const agent = await agentDatabases.acquire('a')
  expect(agent).toMatchObject({
    agentId: 'a',
    path: join(path, 'agents/a/agent.db'),
  })
  const file = { kind: 'directory', path: join(path, 'agents/a/files/x') }
  expect(agent.files.locate('x')).toEqual(file)
  expect(existsSync(join(path, 'agents/a/files'))).toBe(true)
  agent.release()
})

test('what is no agent gets no database', async () => {
  const { agentDatabases, path } = await openEmbeddedStorage()
  await expect(agentDatabases.acquire('nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(agentDatabases.acquire('../../x')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(existsSync(join(path, 'agents/nobody'))).toBe(false)
})

test('acquired at once by many, a database is opened once', async () => {
  let openings = 0
  const onOpen = async () => {
    openings += 1
  }
  const { agentDatabases, addAgent } = await openEmbeddedStorage({ onOpen: [onOpen] })
  await addAgent('a')
  const agents = await Promise.all(Array.from({ length: 20 }, () => agentDatabases.acquire('a')))
  expect(openings).toBe(1)
  expect(new Set(agents.map(agent => agent.db)).size).toBe(1)
  for (const agent of agents) agent.release()
})

test('an opening that failed is tried again by the next one', async () => {
  let openings = 0
  const onOpen = async () => {
    openings += 1
    if (openings === 1) throw new Error('not yet')
  }
  const { agentDatabases, addAgent } = await openEmbeddedStorage({ onOpen: [onOpen] })
  await addAgent('a')
  await expect(agentDatabases.use('a', read)).rejects.toThrow('not yet')
  expect(await agentDatabases.use('a', read)).toEqual([])
})

test('a database beyond the limit is deleted only when it is closed', async () => {
  const moved = Promise.withResolvers<void>()
  const checkpointerOf = () => ({ wrote() {}, shrink: async () => {}, settled: () => moved.promise })
  const { agentDatabases, addAgent, path } = await openEmbeddedStorage({ limit: 1, checkpointerOf })
  for (const agentId of ['a', 'b', 'c']) await addAgent(agentId)
  await agentDatabases.use('a', write)
  await agentDatabases.use('b', read)
  const removal = agentDatabases.remove('a')
  // As much work as the other removal would be.
  mkdirSync(join(path, 'agents/c/files'), { recursive: true })
  await agentDatabases.remove('c')
  expect(existsSync(join(path, 'agents/a/agent.db'))).toBe(true)
  moved.resolve()
  await removal
  expect(existsSync(join(path, 'agents/a'))).toBe(false)
})

test('beyond the limit the least recently acquired database is closed, but none in use', async () => {
  const opened: string[] = []
  const { agentDatabases, addAgent } = await openEmbeddedStorage({ limit: 2 })
  for (const id of ['a', 'b', 'c']) await addAgent(id)
  const databases = new Map<string, unknown>()
  /** Uses the agent, and notes whether that needed a new opening. */
  const visit = (id: string) =>
    agentDatabases.use(id, async agent => {
      await read(agent)
      if (databases.get(id) !== agent.db) opened.push(id)
      databases.set(id, agent.db)
    })

  await visit('a')
  await visit('b')
  await visit('a')
  await visit('c')
  expect(opened).toEqual(['a', 'b', 'c'])
  await visit('a')
  expect(opened).toEqual(['a', 'b', 'c'])
  await visit('b')
  expect(opened).toEqual(['a', 'b', 'c', 'b'])

  const held = await Promise.all(['a', 'b', 'c'].map(id => agentDatabases.acquire(id)))
  await visit('a')
  for (const agent of held) expect(await read(agent)).toEqual([])
  for (const agent of held) agent.release()
})

test('releasing twice counts once: another user keeps the database', async () => {
  const { agentDatabases, addAgent } = await openEmbeddedStorage({ limit: 1 })
  await addAgent('a')
  await addAgent('b')
  const first = await agentDatabases.acquire('a')
  const second = await agentDatabases.acquire('a')
  first.release()
  first.release()
  await agentDatabases.use('b', read)
  expect(await read(second)).toEqual([])
  second.release()
})

test('removing asks the users to finish, waits for them, refuses new ones and deletes everything', async () => {
  const { agentDatabases, addAgent, removeAgentRow, path } = await openEmbeddedStorage()
  await addAgent('a')
  const user = await agentDatabases.acquire('a')
  const removal = agentDatabases.remove('a')
  expect(agentDatabases.remove('a')).toBe(removal)
  expect(user.signal.aborted).toBe(true)
  await expect(agentDatabases.acquire('a')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await write(user)
  expect(existsSync(join(path, 'agents/a/agent.db'))).toBe(true)
  await removeAgentRow('a')
  user.release()
  await removal
  expect(existsSync(join(path, 'agents/a'))).toBe(false)
  await expect(agentDatabases.acquire('a')).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('a user who does not let go loses the database when the grace is over', async () => {
  const { agentDatabases, addAgent, removeAgentRow, path } = await openEmbeddedStorage({ grace: 1 })
  await addAgent('a')
  const user = await agentDatabases.acquire('a')
  await removeAgentRow('a')
  await agentDatabases.remove('a')
  expect(existsSync(join(path, 'agents/a'))).toBe(false)
  await expect(read(user)).rejects.toThrow(/destroyed/)
  user.release()
})

test('what a removal left behind that did not come to its end can be removed', async () => {
  const { agentDatabases, path } = await openEmbeddedStorage()
  mkdirSync(join(path, 'agents/gone/files'), { recursive: true })
  await agentDatabases.remove('gone')
  expect(existsSync(join(path, 'agents/gone'))).toBe(false)
})

test('once closed, no database is given out', async () => {
  const { agentDatabases, addAgent, close } = await openEmbeddedStorage()
  await addAgent('a')
  const user = await agentDatabases.acquire('a')
  const closing = close()
  expect(user.signal.aborted).toBe(true)
  await write(user)
  user.release()
  await closing
  await expect(agentDatabases.acquire('a')).rejects.toMatchObject({ code: 'SHUTTING_DOWN' })
})
