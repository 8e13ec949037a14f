import { setTimeout as delay } from 'node:timers/promises'
import { type ModelServer, startModelServer } from './model-server.ts'
import type { ServerProcess } from './server-process.ts'

export interface EmbeddingServer extends AsyncDisposable {
  /** Environment variables that let agents use it. */
  environment: Record<string, string>
  /** All texts that were to be embedded by this model, with repeats. */
  textsOf(model: string): string[]
}

/** Embeds texts by any model, each of which has vectors of its own, and takes its time. */
export async function startEmbeddingServer(delayMs: number): Promise<EmbeddingServer> {
  const server: ModelServer = await startModelServer(async ({ body }) => {
    const { model, input } = body as { model: string; input: string[] }
    await delay(delayMs)
    const data = input.map((text, index) => ({ index, embedding: [text.length, model.length, 1] }))
    return { json: { object: 'list', data, model, usage: { prompt_tokens: 1, total_tokens: 1 } } }
  })
  return {
    environment: { OPENAI_COMPATIBLE_BASE_URL: server.url, DEV_USER: 'dev@example.com' },
    textsOf: wanted =>
      server.requests.flatMap(({ body }) => {
        const { model, input } = body as { model: string; input: string[] }
        return model === wanted ? input : []
      }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** Lets the agent `default` embed by this model of the server. */
export async function embedBy(server: ServerProcess, embedding_model: string): Promise<void> {
  const body = { embedding_provider: 'openai-compatible', embedding_model }
  const { status } = await server.call('PUT', '/api/agents/default/settings', { body })
  if (status !== 200) throw new Error(`the settings were answered with ${status}`)
}

/** Waits until as many sources are ready, and none in another state. */
export async function untilReady(server: ServerProcess, count: number): Promise<void> {
  const path = '/api/agents/default/sources'
  for (const begun = performance.now(); performance.now() - begun < 240_000; await delay(50)) {
    const total = async (query: string) =>
      (await server.call<{ meta: { total: number } }>('GET', `${path}${query}`)).body.meta.total
    if ((await total('?status=ready')) === count && (await total('')) === count) return
  }
  throw new Error('sources are still not ready')
}

/** Uploads a document of so many chunks. */
export async function uploadChunks(server: ServerProcess, name: string, count: number): Promise<void> {
  const form = new FormData()
  const paragraphs = Array.from({ length: count }, (_, at) => `${'sea '.repeat(20)}${name} ${at}.`)
  form.append('chunk_size', '100')
  form.append('overlap', '0')
  form.append('file', new File([paragraphs.join('\n\n')], `${name}.txt`))
  const response = await fetch(`${server.url}/api/agents/default/sources`, { method: 'POST', body: form })
  if (response.status !== 201) throw new Error(`the upload was answered with ${response.status}`)
}
