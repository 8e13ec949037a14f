/** How many files, and how much, may wait for their message. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { giveRole, makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { type ChatModel, startChatModel } from '#test/support/chat-model.ts'
import { type Gateway, startGateway } from '#test/support/gateway.ts'
import { storedFiles } from '#test/support/stored-files.ts'
import { formOf } from '#test/support/upload.ts'

const mebibyte = 1024 * 1024

let gateway: Gateway
let model: ChatModel
let app: TestApp
const headersOf: Record<string, Record<string, string>> = { nobody: {} }

beforeAll(async () => {
  gateway = await startGateway()
  model = await startChatModel()
  app = await buildApp({ environment: { ...gateway.environment, ...model.environment } })
  for (const who of ['owner', 'ada', 'bob']) headersOf[who] = await gateway.headers(`${who}@example.com`)
})

afterAll(async () => {
  await app.close()
  await model[Symbol.asyncDispose]()
  await gateway.close()
})

async function setStage() {
  const agentId = await makeAgent(app, { headers: headersOf.owner ?? {} })
  for (const who of ['ada', 'bob'])
    await giveRole(app, agentId, {
      email: `${who}@example.com`,
      role: 'chat',
      headers: headersOf.owner ?? {},
    })
  return { agentId, chat: `/api/agents/${agentId}/chat` }
}

async function upload(who: string, path: string, bytes = 1, files = 1) {
  const content = new Uint8Array(Buffer.alloc(bytes, randomBytes(1000).toString('base64')))
  const { payload, headers } = await formOf(
    Array.from({ length: files }, (_, n): [string, File] => ['file', new File([content], `${n}.bin`)]),
  )
  return app.call<{ id: string }>('POST', path, { payload, headers: { ...headers, ...headersOf[who] } })
}

/** Files that are not sent, of other sizes than were ever uploaded. */
async function seed(agentId: string, created_by: string, sizes: readonly number[]): Promise<void> {
  const row = { name: 'seeded', mime_type: 'text/plain', kind: 'document', status: 'ready', progress: 0 }
  await app.service.infrastructure.agentDatabases.use(agentId, async ({ db }) => {
    for (const [n, size] of sizes.entries())
      await db
        .insertInto('chat_files')
        .values({
          ...row,
          id: `${created_by}-${n}`,
          size,
          created_by,
          created_at: new Date().toISOString(),
        })
        .execute()
  })
}

const statuses = (answers: readonly { status: number }[]) => answers.map(({ status }) => status).toSorted()
const refusal = (issue: RegExp) => ({
  status: 413,
  body: { code: 'PAYLOAD_TOO_LARGE', error: expect.stringMatching(issue) },
})

describe('files that are not sent yet', () => {
  it('are 20 of a sender at most, however many arrive at once; what is sent or deleted makes room', async () => {
    const { agentId, chat } = await setStage()
    const answers = await Promise.all(Array.from({ length: 24 }, () => upload('ada', `${chat}/files`)))
    expect(statuses(answers)).toEqual([...Array(20).fill(201), ...Array(4).fill(413)])
    expect(await storedFiles(app, agentId)).toHaveLength(20)
    expect(await upload('ada', `${chat}/files`)).toMatchObject(
      refusal(/^At most 20 of your files may wait to be sent\. Send or delete some of them first: DELETE/),
    )
    expect((await upload('bob', `${chat}/files`)).status).toBe(201)
    const ids = answers.flatMap(({ status, body }) => (status === 201 ? [{ id: body.id }] : []))
    const headers = headersOf.ada ?? {}
    await app.call('DELETE', `${chat}/files/${ids.pop()?.id}`, { headers })
    expect((await upload('ada', `${chat}/files`)).status).toBe(201)
    const message = { content: 'Look', autoRag: false, attachments: ids.slice(0, 2) }
    expect((await app.call('POST', chat, { headers, body: message })).status).toBe(200)
    expect(statuses([await upload('ada', `${chat}/files`), await upload('ada', `${chat}/files`)])).toEqual([
      201, 201,
    ])
    expect((await upload('ada', `${chat}/files`)).status).toBe(413)
  })

  it('of a message’s form count with the others, and are gone with a form that is refused', async () => {
    const { agentId, chat } = await setStage()
    await seed(agentId, 'person:ada@example.com', Array(18).fill(1))
    expect(await upload('ada', chat, 10, 3)).toMatchObject(refusal(/20 of your files/))
    expect(await storedFiles(app, agentId)).toEqual([])
    expect((await upload('ada', chat, 10, 2)).status).toBe(200)
  })

  const limits: [sender: string, author: string, who: string, mib: number, issue: RegExp][] = [
    ['a person', 'person:ada@example.com', 'ada', 100, /At most 100 MiB of your files/],
    ['a person in MCP sessions', 'mcp:person:ada@example.com', 'ada', 100, /At most 100 MiB of your files/],
    ['an agent', 'person:other@example.com', 'ada', 1024, /At most 1 GiB of files of this agent/],
    ['an agent, on channels', 'channel:telegram', 'ada', 1024, /At most 1 GiB of files of this agent/],
  ]
  it.each(limits)('have bytes of %s at most, however many arrive at once', async (...given) => {
    const [, author, who, mib, issue] = given
    const { agentId, chat } = await setStage()
    const [size, free] = [300_000, 3]
    await seed(agentId, author, [mib * mebibyte - free * size])
    const answers = await Promise.all(Array.from({ length: 6 }, () => upload(who, `${chat}/files`, size)))
    expect(statuses(answers)).toEqual([201, 201, 201, 413, 413, 413])
    expect(await upload(who, `${chat}/files`, size)).toMatchObject(refusal(issue))
    expect(await storedFiles(app, agentId)).toHaveLength(free)
  })

  it('have 20 MiB of all callers without a user, buyers too, and of no others', async () => {
    await seed('default', 'x402:base:0xabc', [10 * mebibyte])
    await seed('default', 'mcp:anonymous', [10 * mebibyte - 100])
    const path = '/api/agents/default/chat/files'
    expect(await upload('nobody', path, 101)).toMatchObject(
      refusal(/^At most 20 MiB of the files of all callers without a user may wait/),
    )
    expect((await upload('nobody', path, 100)).status).toBe(201)
    expect((await upload('ada', path, 101)).status).toBe(201)
  })

  it('of channels are as many as their people send', async () => {
    const { agentId, chat } = await setStage()
    await seed(agentId, 'channel:telegram', Array(40).fill(10 * mebibyte))
    expect((await upload('ada', `${chat}/files`)).status).toBe(201)
  })
})
