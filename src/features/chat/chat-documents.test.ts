/** Documents of conversations: what models are shown of them, and who finds them. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { type ChatModel, type Question, startChatModel } from '#test/support/chat-model.ts'
import type { TurnBody } from '#test/support/chat-stage.ts'
import { makePdf } from '#test/support/documents.ts'
import { openaiText, openaiToolCall } from '#test/support/model-server.ts'
import { storedFiles } from '#test/support/stored-files.ts'
import { formOf } from '#test/support/upload.ts'

let model: ChatModel
let app: TestApp
let agent: string

beforeAll(async () => {
  model = await startChatModel()
  app = await buildApp({ environment: { ...model.environment, DEV_USER: 'ada@example.com' } })
  agent = `/api/agents/${await makeAgent(app)}`
})

afterAll(async () => {
  await app.close()
  await model[Symbol.asyncDispose]()
})

const filler = 'The parties meet in good faith and write down what they agree on. '
/** Pages of so many characters, each with its own harbour and a depth of it. */
const pagesOf = (count: number, characters: number) =>
  Array.from({ length: count }, (_, at) =>
    `The harbour H${at + 1} is ${7 * at + 3} fathoms deep. ${filler.repeat(characters / filler.length)}`.replace(
      /(.{1,80}) /g,
      '$1\n',
    ),
  )

type Given = string | Uint8Array<ArrayBuffer>

async function send(content: string, fields: Record<string, string> = {}, ...files: [string, Given][]) {
  const parts = files.map(([name, given]): [string, File] => ['file', new File([given], name)])
  const form = await formOf([...Object.entries({ content, ...fields }), ...parts])
  const { status, body } = await app.call<TurnBody>('POST', `${agent}/chat`, form)
  expect(status).toBe(200)
  return body
}

const pdf = (pages: string[]) => new Uint8Array(makePdf(pages))
const textOf = ({ messages }: Question) => messages.map(({ content }) => JSON.stringify(content)).join('\n')
/** Says what it was given of these, and no more. */
const quote = (...wanted: RegExp[]) =>
  model.next(question => ({
    stream: openaiText(wanted.map(each => each.exec(textOf(question))?.[0] ?? 'nothing').join('; ')),
  }))
const recordOf = async (fileId = '') => {
  const { agentDatabases } = app.service.infrastructure
  return await agentDatabases.use(agent.split('/')[3] ?? '', ({ db }) =>
    db.selectFrom('chat_files').selectAll().where('id', '=', fileId).executeTakeFirst(),
  )
}

it('a document that fits is shown whole, in a fixed place, in each turn of its conversation', async () => {
  quote(/harbour H1 is \d+ fathoms/, /harbour H10 is \d+ fathoms/)
  const { userMessage, assistantMessage } = await send('How deep are the first and the last?', {}, [
    'harbours.pdf',
    pdf(pagesOf(10, 2000)),
  ])
  expect(assistantMessage.content).toBe('harbour H1 is 3 fathoms; harbour H10 is 66 fathoms')
  const [file] = userMessage.metadata?.attachments ?? []
  const cited = { source_id: file?.id, file_id: file?.id, source_name: 'harbours.pdf', page: null }
  expect(assistantMessage.metadata).toMatchObject({ tainted: true, passages: [cited] })
  expect(await recordOf(file?.id)).toMatchObject({ status: 'ready', progress: 1, error: null })
  const { conversationId } = userMessage
  await send('Thank you', { conversationId })
  const [first, second] = model.questions().slice(-2)
  expect(first?.messages[1]).toMatchObject({ role: 'user' })
  expect(JSON.stringify(second?.messages[1]).slice(0, 20_000)).toBe(
    JSON.stringify(first?.messages[1]).slice(0, 20_000),
  )
  expect(textOf(first as Question)).toContain('{\\"source\\":\\"harbours.pdf\\",\\"page\\":10,')
})

it('a document of 300 pages is shown in passages, also to its tool, and to no other conversation', async () => {
  const names = ['sources/search?query=harbour+H31+fathoms', 'sources', 'sql/execute']
  quote(/harbour H288 is \d+ fathoms/)
  const given = pdf(pagesOf(300, 200))
  const { userMessage, assistantMessage } = await send('How deep is the harbour H288?', {}, [
    'long.pdf',
    given,
  ])
  expect(assistantMessage.content).toBe('harbour H288 is 2012 fathoms')
  const { conversationId } = userMessage
  const [file] = userMessage.metadata?.attachments ?? []
  expect(assistantMessage.metadata?.passages?.[0]).toMatchObject({ file_id: file?.id, page: 288 })

  const search = { stream: openaiToolCall('search_knowledge', { query: 'depth of the harbour H31' }) }
  model.next(search)
  quote(/harbour H31 is \d+ fathoms/)
  const found = await send('And another?', { conversationId, autoRag: 'false' })
  expect(found.assistantMessage.content).toBe('harbour H31 is 213 fathoms')
  expect(found.assistantMessage.metadata?.passages?.[0]).toMatchObject({ page: 31 })

  model.next(search)
  await send('How deep is the harbour H31?')
  const seen = [model.questions().at(-1)].map(question => textOf(question as Question)).join()
  const bodies = [undefined, undefined, { query: 'select content from chunks' }]
  for (const [at, name] of names.entries()) {
    const body = bodies[at]
    const answer = await app.call(body ? 'POST' : 'GET', `${agent}/${name}`, body && { body })
    expect(answer.status).toBe(200)
    expect(JSON.stringify(answer.body)).not.toMatch(/fathoms|long\.pdf/)
  }
  expect(seen).not.toMatch(/fathoms|long\.pdf/)
})

it('a document that can’t be read costs no turn, and is not read again', async () => {
  quote(/notes\.pdf.{5,40}This file can’t be read: [^"\\]+/)
  const { userMessage, assistantMessage } = await send('Read this', {}, ['notes.pdf', '%PDF-1.7\nbroken'])
  expect(assistantMessage.content).toContain('This file can’t be read: ')
  const [file] = userMessage.metadata?.attachments ?? []
  const record = await recordOf(file?.id)
  expect(record).toMatchObject({ status: 'error', error: expect.stringMatching(/PDF/) })
  quote(/This file can’t be read/)
  const { conversationId } = userMessage
  expect((await send('Again', { conversationId })).assistantMessage.content).toContain('can’t be read')
})

it('a stream says which document is being read', async () => {
  const form = await formOf([
    ['content', 'Read this'],
    ['stream', 'true'],
    ['file', new File(['Tides turn twice a day.'], 'tides.txt')],
  ])
  const { body } = await app.call<string>('POST', `${agent}/chat`, form)
  expect(body).toMatch(/^: reading tides\.txt\n\nevent: message\ndata: \{"type":"message_start"/)
})

it('passages go with their conversation, and are made again where they are missing', async () => {
  const agentId = agent.split('/')[3] ?? ''
  const before = await storedFiles(app, agentId)
  quote(/twice a day/)
  const { userMessage } = await send('When?', {}, ['tides.txt', 'Tides turn twice a day.'])
  const { conversationId } = userMessage
  const made = (await storedFiles(app, agentId)).filter(
    name => name.endsWith('-passages') && !before.includes(name),
  )
  expect(made).toHaveLength(1)
  await app.service.infrastructure.agentDatabases.use(agentId, ({ files }) => files.remove(made[0] ?? ''))
  quote(/twice a day/)
  expect((await send('When?', { conversationId })).assistantMessage.content).toBe('twice a day')
  await app.call('DELETE', `${agent}/chat/conversations/${conversationId}`)
  await app.service.infrastructure.runner.idle()
  expect(await storedFiles(app, agentId)).toEqual(before)
})

it('documents of later messages are not shown where an earlier one is answered again', async () => {
  const { userMessage } = await send('Hello')
  const { conversationId } = userMessage
  await send('And this', { conversationId }, ['tides.txt', 'Tides turn twice a day.'])
  await app.call('POST', `${agent}/chat/messages/${userMessage.id}/regenerate`, { body: {} })
  expect(textOf(model.questions().at(-1) as Question)).not.toContain('tides.txt')
})

it('the built-in retriever quotes the documents of the conversation', async () => {
  const { assistantMessage } = await send('How deep is the harbour H3?', { model: 'builtin' }, [
    'harbours.pdf',
    pdf(pagesOf(4, 200)),
  ])
  expect(assistantMessage.content).toMatch(/From “harbours.pdf”, page 3: “.*17 fathoms/)
})
