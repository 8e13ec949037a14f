import { expect, onTestFinished, test } from 'vitest'
import { randomIds } from '#platform/ids.ts'
import { createLog } from '#platform/logging/log.ts'
import { addSource, chunkOf } from '#test/support/chunk-rows.ts'
import { openStorage } from '#test/support/storage.ts'
import { withAgentDatabase } from './indexing/agent-database.ts'
import { createIndexWriter } from './indexing/index-writer.ts'
import { createKnowledgeService } from './knowledge.service.ts'

async function openAgents(...ids: string[]) {
  const storage = await openStorage(onTestFinished)
  const open = async (id: string) => {
    await storage.addAgent(id)
    const agent = await storage.agentDatabases.acquire(id)
    onTestFinished(() => agent.release())
    await withAgentDatabase(agent.path, { readOnly: false }, async db => {
      await addSource(db.db, 'manual')
      const writer = createIndexWriter({ db, ids: randomIds, attempt: 'first attempt' })
      await writer.start('manual')
      await writer.add('manual', [chunkOf('tea')])
      await writer.finish('manual')
    })
    return agent
  }
  return await Promise.all(ids.map(open))
}

test('of many searches of an agent one looks whether its sources need another embedding', async () => {
  const [one, other] = await openAgents('a', 'b')
  if (one === undefined || other === undefined) throw new Error('there are two agents')
  const followed: string[] = []
  const unused = () => Promise.reject(new Error('nothing but a search is asked for'))
  const { search } = createKnowledgeService({
    index: { search: async () => [] },
    embeddingNamed: unused,
    changes: { follow: async ({ agentId }) => void followed.push(agentId) },
    log: createLog('silent'),
  })
  for (const agent of [one, one, other, one, other]) await search(agent, { query: 'tea' })
  expect(followed).toEqual(['a', 'b'])
})
