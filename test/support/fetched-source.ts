/** Sources of type `database` and `api` over HTTP. */
import type { SearchResult } from '#features/knowledge/knowledge.schema.ts'
import type { FetchedConfig, Source } from '#features/sources/sources.schema.ts'
import type { Answer, TestApp } from './build-app.ts'

export const sources = '/api/agents/default/sources'

export type FetchedSource = Source & { config: FetchedConfig & { headers?: Record<string, string> } }

interface Refusal {
  error: { code: string; message: string; details: { field?: string; issue?: string } }
}

export function createSource(app: TestApp, body: unknown): Promise<Answer<FetchedSource & Refusal>> {
  return app.call('POST', sources, { body })
}

/** The source when all work on it has ended. */
export async function settled(app: TestApp, id: string): Promise<FetchedSource> {
  await app.service.infrastructure.runner.idle()
  return (await app.call<FetchedSource>('GET', `${sources}/${id}`)).body
}

/** Creates a source and waits until it was fetched. */
export async function fetchedSource(app: TestApp, body: unknown): Promise<FetchedSource> {
  const answer = await createSource(app, body)
  if (answer.status !== 201)
    throw new Error(`the source was answered with ${answer.status}: ${JSON.stringify(answer.body)}`)
  return await settled(app, answer.body.id)
}

export async function refreshed(app: TestApp, id: string, how = 'refresh'): Promise<FetchedSource> {
  const { status, body } = await app.call('POST', `${sources}/${id}/${how}`)
  if (status !== 200) throw new Error(`the ${how} was answered with ${status}: ${JSON.stringify(body)}`)
  return await settled(app, id)
}

/** The passages of one source that hold the words, the best first. */
export async function passages(app: TestApp, id: string, query: string): Promise<string[]> {
  const path = `${sources}/search?query=${encodeURIComponent(query)}&source_id=${id}&limit=50`
  const { body } = await app.call<{ results: SearchResult[] }>('GET', path)
  return body.results.map(({ content }) => content)
}
