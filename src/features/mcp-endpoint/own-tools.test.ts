import { expect, it } from 'vitest'
import { createAgentsRepository } from '#features/agents/agents.repository.ts'
import { keptCharacters, truncateResult } from '#features/chat/turn/truncate-result.ts'
import type { Tool } from '#models/tools/tool.ts'
import { AppError, notFound } from '#platform/errors.ts'
import { createLog } from '#platform/logging/log.ts'
import { testApp } from '#test/support/build-app.ts'
import { type Caller, createMcpEndpointService } from './mcp-endpoint.service.ts'

function toolOf(name: string, execute: Tool['execute'], more: Partial<Tool> = {}): Tool {
  const parameters = { type: 'object' as const, properties: {} }
  return {
    name,
    description: `The tool ${name}.`,
    parameters,
    check: async () => undefined,
    execute,
    ...more,
  }
}

/** The endpoint of an agent with these tools of its own. */
async function endpointWith(tools: () => readonly Tool[]) {
  const app = await testApp()
  const { platform, agentDatabases } = app.service.infrastructure
  const logged: string[] = []
  const unused = () => Promise.reject(new Error('Nobody chats here.'))
  const endpoint = createMcpEndpointService({
    agents: {
      async find(id) {
        const agent = await createAgentsRepository(platform).find(id)
        if (agent === undefined) throw notFound('Agent')
        return agent
      },
    },
    agentDatabases,
    questions: { accept: unused },
    files: { receive: unused, discard: unused, examine: unused },
    answering: { answer: unused },
    knowledgeTool: () => toolOf('search_knowledge', async () => 'from the documents'),
    toolsOf: async () => tools(),
    shorten: result => truncateResult(result, keptCharacters),
    log: createLog('debug', { write: line => logged.push(line) }),
  })
  const admin: Caller = {
    agentId: 'default',
    conversationId: 'standing',
    isAdmin: true,
    isChatOnly: false,
    asker: { isOutsider: false, author: 'person:ada@example.com', reach: 'all' },
    soldCalls: async () => [],
    countChat: async () => {},
  }
  const chatter: Caller = { ...admin, isAdmin: false }
  return {
    endpoint,
    admin,
    chatter,
    logged,
    names: async (caller = admin) => (await endpoint.list(caller)).map(({ name }) => name),
    call: (name: string, { caller = admin, signal = new AbortController().signal } = {}) =>
      endpoint.call(caller, { name, input: {} }, { signal, progress: () => {} }),
  }
}

it('offers the agent’s own tools to admins, each name once, as they are at that moment', async () => {
  const tools = [
    toolOf('chat', async () => 'not the chat'),
    toolOf('search_knowledge', async () => 'from elsewhere'),
    toolOf('weather', async () => ({ degrees: 21 })),
    toolOf('weather', async () => 'the second one'),
  ]
  const { names, chatter, call } = await endpointWith(() => tools)
  expect(await names()).toEqual(['chat', 'search_knowledge', 'weather'])
  expect(await names(chatter)).toEqual(['chat', 'search_knowledge'])
  expect(await call('search_knowledge')).toEqual({ content: [{ type: 'text', text: 'from the documents' }] })
  expect(await call('weather')).toEqual({
    content: [{ type: 'text', text: '{"degrees":21}' }],
    structuredContent: { degrees: 21 },
  })
  expect(await call('weather', { caller: chatter })).toBeUndefined()
  tools.pop()
  tools.pop()
  expect(await names()).toEqual(['chat', 'search_knowledge'])
  expect(await call('weather')).toBeUndefined()
})

it('offers no tool that needs the consent of a person', async () => {
  const dangerous = toolOf('pay', async () => 'paid', { requiresApproval: true })
  const { names, call } = await endpointWith(() => [dangerous])
  expect(await names()).toEqual(['chat', 'search_knowledge'])
  expect(await call('pay')).toBeUndefined()
})

it('tells of a failure only what was meant for callers', async () => {
  const { call, logged } = await endpointWith(() => [
    toolOf('told', () => Promise.reject(new AppError('OUTBOUND_FAILED', 'The server did not answer.'))),
    toolOf('untold', () => Promise.reject(new Error('password=hunter2'))),
    toolOf('unfit', async () => 'never', { check: async () => 'The arguments do not fit.' }),
  ])
  const failure = (text: string) => ({ content: [{ type: 'text', text }], isError: true })
  expect(await call('told')).toEqual(failure('The server did not answer.'))
  expect(await call('untold')).toEqual(failure('The tool untold failed.'))
  expect(await call('unfit')).toEqual(failure('The arguments do not fit.'))
  expect(logged.join('')).toContain('"tool":"untold"')
})

it('bounds what a tool may answer with', async () => {
  const { call } = await endpointWith(() => [
    toolOf('large', async () => ({ text: 'x'.repeat(keptCharacters * 2) })),
  ])
  const result = await call('large')
  expect(result?.content[0]?.text).toMatch(/^.{10000,} characters left out .+$/s)
  expect(result?.content[0]?.text.length).toBeLessThanOrEqual(keptCharacters)
  expect(result).not.toHaveProperty('structuredContent')
})

it('ends a tool when the client goes away', async () => {
  const gone = new AbortController()
  const { call, logged } = await endpointWith(() => [
    toolOf('slow', (_input, signal) => {
      const aborted = new Promise<never>((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason)),
      )
      gone.abort()
      return aborted
    }),
  ])
  expect(await call('slow', { signal: gone.signal })).toMatchObject({ isError: true })
  expect(logged).toEqual([])
})
