import { expect, it } from 'vitest'
import { systemClock } from '#platform/clock.ts'
import { randomIds } from '#platform/ids.ts'
import { testApp } from '#test/support/build-app.ts'
import type { OfferedTools } from './offered-tools.ts'
import { createToolsService } from './tools.service.ts'

const weather = (secret: string) => ({
  url: 'https://weather.example/{city}',
  method: 'GET',
  headers: JSON.stringify({ Authorization: secret }),
})

it('a change that meets another is made to what that one has left, secrets included', async () => {
  const { service } = await testApp()
  const { agentDatabases, agentSecrets } = service.infrastructure
  await agentDatabases.use('default', async agent => {
    let meanwhile: (() => Promise<unknown>) | undefined
    const met: typeof agentSecrets = {
      ...agentSecrets,
      async read(agentId, setId) {
        const once = meanwhile
        meanwhile = undefined
        await once?.()
        return agentSecrets.read(agentId, setId)
      },
    }
    const needs = {
      offered: {} as OfferedTools,
      sandbox: { check: async () => undefined },
      findMcpTool: async () => ({ problem: 'none' }),
      builtInsOf: async () => [],
      clock: systemClock,
    }
    const tools = createToolsService({ ...needs, agentSecrets: met, ids: randomIds })
    const { id } = await tools.create(agent, {
      name: 'weather',
      type: 'http',
      configuration: weather('Bearer secret-1'),
    })
    meanwhile = () => tools.update(agent, id, { configuration: weather('Bearer secret-2'), cluster: 'Sky' })
    await tools.update(agent, id, { description: 'New' })
    expect(await tools.find(agent, id)).toMatchObject({ description: 'New', cluster: 'Sky' })
    const sets = await service.infrastructure.platform.selectFrom('agent_secrets').select('set_id').execute()
    expect(sets).toHaveLength(1)
    expect(await agentSecrets.read('default', sets[0]?.set_id ?? null)).toEqual({
      authorization: 'Bearer secret-2',
    })
  })
})

it('a change of something else leaves the secrets to the calls that are under way', async () => {
  const { service } = await testApp()
  const { agentDatabases, agentSecrets, platform } = service.infrastructure
  await agentDatabases.use('default', async agent => {
    const needs = {
      offered: {} as OfferedTools,
      sandbox: { check: async () => undefined },
      findMcpTool: async () => ({ problem: 'none' }),
      builtInsOf: async () => [],
      clock: systemClock,
    }
    const tools = createToolsService({ ...needs, agentSecrets, ids: randomIds })
    const { id } = await tools.create(agent, {
      name: 'weather',
      type: 'http',
      configuration: weather('Bearer secret-3'),
    })
    const sets = () => platform.selectFrom('agent_secrets').select('set_id').execute()
    const before = await sets()
    await tools.update(agent, id, { isEnabled: false })
    expect(await sets()).toEqual(before)
  })
})

it('a tool is deleted once, also by several at the same time', async () => {
  const app = await testApp()
  const path = '/api/agents/default/tools'
  const body = { name: 'one', type: 'javascript', configuration: { code: 'return 1' } }
  const { data } = (await app.call<{ data: { id: string } }>('POST', path, { body })).body
  const answers = await Promise.all([1, 2, 3, 4].map(() => app.call('DELETE', `${path}?id=${data.id}`)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404])
})
