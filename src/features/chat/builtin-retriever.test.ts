/** The built-in retriever in a whole chat: with the search that finds its passages, and the tool that it calls. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nothingFits } from '#models/builtin/answer.ts'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import { openaiText, openaiToolCall } from '#test/support/model-server.ts'
import { millisecondsOf, slowness } from '#test/support/processor-time.ts'
import { upload, uploadAndProcess } from '#test/support/upload.ts'

const opening = 'The museum opens at nine in the morning and closes at six in the evening.'
const documents = {
  'north.txt': `${opening} The north hall shows whales, seals and the skeleton of a mammoth.`,
  'south.txt': `On holidays the museum opens later: at eleven. The south hall shows meteorites and a pendulum.`,
  'garden.txt': 'The roses are cut in March. Tulips are planted in October, ten centimetres deep.',
}

let stage: ChatStage
let path: string

beforeAll(async () => {
  stage = await setChatStage()
  path = await makeChatWith(documents)
})

afterAll(() => stage[Symbol.asyncDispose]())

async function makeChatWith(texts: Record<string, string>): Promise<string> {
  const chat = await stage.makeChat()
  const agentId = chat.split('/')[3] ?? ''
  for (const [name, content] of Object.entries(texts))
    await uploadAndProcess(stage.app, { name, content, agentId })
  return chat
}

async function ask(content: string, options: object = {}, to = path) {
  const { status, body } = await stage.send(to, { content, model: 'builtin', ...options })
  expect(status).toBe(200)
  return body.assistantMessage
}

describe.each([
  ['with the passages that come with a question', {}],
  ['with those that it searches for itself', { autoRag: false }],
])('%s', (_, options) => {
  it.each([
    ['What does the north hall show?', /^From “north\.txt”: “.*mammoth/],
    ['How deep are tulips planted?', /^From “garden\.txt”: “.*ten centimetres/],
  ])('quotes what answers “%s”', async (question, answer) => {
    expect((await ask(question, options)).content).toMatch(answer)
  })

  it.each([
    'How much does a ticket for the museum cost on Sundays?',
    'Who founded the museum and gave it his name?',
    'Which planet has the most moons in the evening?',
  ])('says that nothing fits “%s”, although it shares a word with a document', async question => {
    expect((await ask(question, options)).content).toBe(nothingFits)
  })

  it('searches the document first that a question names', async () => {
    const question = 'When does the museum open in the morning'
    expect((await ask(`${question}?`, options)).content).toMatch(/^From “north\.txt”/)
    const { content } = await ask(`${question} according to SOUTH.txt?`, options)
    expect(content).toMatch(/From “south\.txt”: “On holidays/)
    expect(content).not.toContain('north.txt')
  })

  it('searches all documents where the named one has nothing that fits', async () => {
    const { content } = await ask('Does garden.txt say what the north hall shows?', options)
    expect(content).toContain('mammoth')
  })
})

describe('a document is named', () => {
  it('by its whole name, and by no part of a word', async () => {
    const chat = await makeChatWith({ 'ring.txt': 'The museum opens at ten.', ...documents })
    const question = 'When does the museum open in the morning and close in the evening, in'
    expect((await ask(`${question} spring.txt?`, {}, chat)).content).toContain('“north.txt”')
    expect((await ask(`${question} ring.txt?`, {}, chat)).content).toMatch(/^[^“]*From “ring\.txt”: “[^“]*$/)
  })

  it('in a script without spaces, too', async () => {
    const chat = await makeChatWith({
      '手册.txt': '节假日博物馆十一点开门。',
      '指南.txt': '博物馆早上九点开门。',
    })
    const opening = async (name: string) => (await ask(`${name}里说博物馆几点开门？`, {}, chat)).content
    expect(await opening('手册.txt')).toMatch(/^[^“]*From “手册\.txt”: “[^“]*$/)
    expect(await opening('指南.txt')).toMatch(/^[^“]*From “指南\.txt”: “[^“]*$/)
  })
})

describe('it', () => {
  it.each(['Which documents do you have?', 'Welche Dokumente hast du?'])(
    'lists the documents for “%s”',
    async question => {
      const { content, toolCalls } = await ask(question)
      expect(content).toBe(
        'This agent has 3 documents:\n\n- “garden.txt” (ready)\n- “north.txt” (ready)\n- “south.txt” (ready)',
      )
      expect(toolCalls).toMatchObject([{ name: 'search_knowledge', arguments: { query: '*' } }])
    },
  )

  it('tells the states of documents, and that there are none', async () => {
    const chat = await stage.makeChat()
    const question = 'What files are there?'
    expect((await ask(question, {}, chat)).content).toBe('This agent has no documents yet.')
    const agentId = chat.split('/')[3] ?? ''
    await upload(stage.app, { name: 'broken.pdf', content: '%PDF-1.4 and no more', agentId })
    await stage.app.service.infrastructure.runner.idle()
    expect((await ask(question, {}, chat)).content).toBe(
      'This agent has one document:\n\n- “broken.pdf” (error)',
    )
  })

  it('greets, and looks nothing up', async () => {
    const { content, toolCalls } = await ask('Guten Morgen!')
    expect(content).toMatch(/^Guten Morgen! I am the built-in retriever/)
    expect(toolCalls).toBeNull()
  })
})

/** Of all threads of this process; see `processorTime` for one. */
async function processTime(work: () => Promise<unknown>): Promise<number> {
  const begun = process.cpuUsage()
  await work()
  return millisecondsOf(process.cpuUsage(begun)) / slowness()
}

it('a message of combining marks costs no more than another', async () => {
  const content = `museum ${'\u0730\u0731'.repeat(49_000)}`
  expect(await processTime(() => ask(content))).toBeLessThan(1_000)
})

it('a query of a model may hold any character', async () => {
  const input = { query: 'museum\u0000 \ud800 north.txt' }
  stage.model.next({ stream: openaiToolCall('search_knowledge', input) }, { stream: openaiText('So be it.') })
  const { body } = await stage.send(path, { content: 'Use the tool.', autoRag: false })
  expect(body.assistantMessage.toolResults).toMatchObject([
    { result: { results: [{ metadata: { source_name: 'north.txt' } }] } },
  ])
})

/** The events of a streamed answer. */
async function streamed(to: string, body: object) {
  const { payload } = await stage.app.service.app.inject({
    method: 'POST',
    url: to,
    payload: { ...body, stream: true },
  })
  return payload
    .split('\n')
    .filter(line => line.startsWith('data: '))
    .map(line => JSON.parse(line.slice('data: '.length)) as Record<string, unknown>)
}

describe('an answer', () => {
  const question = 'What does the north hall show?'
  const cited = {
    id: expect.any(String),
    source_id: expect.any(String),
    source_name: 'north.txt',
    page: null,
    section: null,
    start: 0,
    end: documents['north.txt'].length,
  }

  it.each([
    ['those that came with the question', {}],
    ['those that a tool found', { autoRag: false }],
  ])('names the passages that it rests on: %s', async (_, options) => {
    const { id, conversationId, metadata } = await ask(question, options)
    expect(metadata?.passages).toContainEqual(cited)
    expect(new Set(metadata?.passages?.map(passage => passage.id)).size).toBe(metadata?.passages?.length)
    expect((await stage.messages(path, conversationId)).at(-1)).toMatchObject({
      id,
      metadata: { passages: metadata?.passages },
    })
    const place = metadata?.passages?.find(passage => passage.source_name === 'north.txt')
    const source = `/api/agents/${path.split('/')[3]}/sources/${place?.source_id}`
    const { text } = (await stage.app.call<{ text: string }>('GET', `${source}/text`)).body
    expect(text.slice(place?.start, place?.end)).toBe(documents['north.txt'])
  })

  it('names those of the question at its beginning, and none where there are none', async () => {
    const events = await streamed(path, { content: question, model: 'builtin' })
    expect(events[0]).toMatchObject({ type: 'message_start', passages: expect.arrayContaining([cited]) })
    expect(events.slice(1).some(event => 'passages' in event)).toBe(false)
    const without = await streamed(path, { content: question, model: 'builtin', autoRag: false })
    expect(without[0]).not.toHaveProperty('passages')
    const chat = await stage.makeChat()
    expect((await ask(question, {}, chat)).metadata).not.toHaveProperty('passages')
  })
})
