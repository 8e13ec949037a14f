import { expect, it, onTestFinished } from 'vitest'
import { type TestApp, testApp } from '#test/support/build-app.ts'
import { refusal } from '#test/support/chat-model.ts'
import { setChatStage } from '#test/support/chat-stage.ts'
import { type Reply, startModelServer } from '#test/support/model-server.ts'

const agent = '/api/agents/default'

async function askedAt(reply: Reply, environment: Record<string, string> = {}) {
  const server = await startModelServer(() => reply)
  onTestFinished(() => server[Symbol.asyncDispose]())
  const app = await testApp({ environment: { OPENAI_COMPATIBLE_BASE_URL: server.url, ...environment } })
  const { status, body } = await app.call<{ error: string; code: string }>('POST', `${agent}/chat`, {
    body: { content: 'Hello' },
  })
  return { status, ...body }
}

const nothingThere: [string, Reply][] = [
  ['without a word', { status: 404, text: '' }],
  ['in JSON', { status: 404, json: { error: { message: 'File Not Found', type: 'not_found_error' } } }],
  ['as a page', { status: 404, text: '<!doctype html><title>No such model</title>' }],
]

it.each(nothingThere)(
  'an address that has nothing there, and says so %s, is told as a wrong address',
  async (_, reply) => {
    expect(await askedAt(reply, { DEFAULT_MODEL: 'some-model' })).toMatchObject({
      status: 500,
      code: 'MODEL_ERROR',
      error: expect.stringContaining('no OpenAI-compatible API (did you leave out /v1?)'),
    })
    expect(await askedAt(reply)).toMatchObject({
      status: 400,
      code: 'MODEL_NOT_CONFIGURED',
      error: expect.stringContaining('did you leave out /v1?'),
    })
  },
)

it('a model that the server does not have is still told as one', async () => {
  const reply = refusal(404, 'model "some-model" not found, try pulling it first')
  expect(await askedAt(reply, { DEFAULT_MODEL: 'some-model' })).toMatchObject({
    status: 400,
    code: 'MODEL_UNKNOWN',
  })
})

async function windows(app: TestApp, path: string) {
  const { body } = await app.call<{ models: { id: string; contextWindow: number }[] }>(
    'GET',
    `${path}/models`,
  )
  return Object.fromEntries(body.models.map(({ id, contextWindow }) => [id, contextWindow]))
}

it('the window that an agent’s settings name bounds the prompts of its own model', async () => {
  await using stage = await setChatStage()
  stage.model.list({ json: { data: [{ id: 'fake-model' }, { id: 'other', context_length: 40_000 }] } })
  const chat = await stage.makeChat()
  const settings = chat.replace('/chat', '/settings')
  const set = (llm_context_window: unknown) =>
    stage.app.call<{ settings: object }>('PUT', settings, { body: { llm_context_window } })
  const promptOf = async (more: object) => {
    await stage.send(chat, { content: 'x'.repeat(50_000), enableTools: false, ...more })
    return JSON.stringify(stage.model.questions().at(-1)?.messages).length
  }

  expect(await promptOf({})).toBeGreaterThan(50_000)
  expect((await set(4096)).body.settings).toMatchObject({ llm_context_window: 4096 })
  expect(await windows(stage.app, chat)).toMatchObject({ 'fake-model': 4096, other: 40_000, builtin: 32_768 })
  expect(await promptOf({})).toBeLessThan(2048 * 4 + 500)
  expect(await promptOf({ model: 'other' })).toBeGreaterThan(50_000)
  expect((await set(null)).body.settings).not.toHaveProperty('llm_context_window')
  expect(await promptOf({})).toBeGreaterThan(50_000)

  for (const wrong of [0, -1, 1023, 10_000_001, 4096.5, '4096', true])
    expect((await set(wrong)).status, String(wrong)).toBe(400)
})
