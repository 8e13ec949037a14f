import type { Static } from 'typebox'
import { get, path, post, remove } from '#console/api/request.ts'
import type { Agent } from '#console/shell/agent.tsx'
import type { SearchQuery, searchAnswerSchema } from '#features/knowledge/knowledge.schema.ts'
import type { NewApi, NewDatabase } from '#features/sources/new-fetched.schema.ts'
import type { NewCrawl, SourceText, sourceSchema } from '#features/sources/sources.schema.ts'

export type Source = Static<typeof sourceSchema>
export type SearchAnswer = Static<typeof searchAnswerSchema>
export type SearchResult = SearchAnswer['results'][number]
export type DocumentText = SourceText

type Place = Pick<Agent, 'api'>

export const sourcesPath = ({ api }: Place) => `${api}/sources`
const sourcePath = (agent: Place, id: string) => `${sourcesPath(agent)}/${path`${id}`}`

export const listSources = (
  agent: Place,
  filters: { type?: string; status?: string; search?: string } = {},
) => get(sourcesPath(agent), { sort: 'created_at', order: 'desc', ...filters })
/** Lists the sources that a person can choose from. */
export const nameSources = (agent: Place) =>
  get<{ sources: Source[] }>(sourcesPath(agent), { sort: 'name', limit: 100 })
export const getSource = (agent: Place, id: string) => get<Source>(sourcePath(agent, id))
export const getFile = (agent: Place, id: string) => get<ArrayBuffer>(`${sourcePath(agent, id)}/file`)
export const getText = (
  agent: Place,
  id: string,
  part: { url?: string | undefined; start?: number; end?: number },
) => get<DocumentText>(`${sourcePath(agent, id)}/text`, part)
export const searchSources = (agent: Place, query: SearchQuery) =>
  get<SearchAnswer>(`${sourcesPath(agent)}/search`, query)

export function uploadSource(agent: Place, file: File) {
  const form = new FormData()
  form.append('type', 'file')
  form.append('name', file.name.replace(/\.[^.]+$/, '').slice(0, 300) || file.name)
  form.append('file', file)
  return post<Source>(sourcesPath(agent), { form })
}
export const crawlWebsite = (agent: Place) => (body: NewCrawl) =>
  post<Source>(`${sourcesPath(agent)}/crawl`, { body })
export const createFetched = (agent: Place) => (body: NewApi | NewDatabase) =>
  post<Source>(sourcesPath(agent), { body, secrets: ['headers'] })
/** Reads or fetches the source again; a website is crawled again. */
export const reindexSource = (agent: Place) => (id: string) => post(`${sourcePath(agent, id)}/reindex`)
export const deleteSource = (agent: Place, id: string) => remove(sourcePath(agent, id))

/** Returns the name of an uploaded file. */
export const fileNameOf = ({ config }: Source) => ('file_name' in config ? config.file_name : undefined)
export const isPdf = (source: Source) => /\.pdf$/i.test(fileNameOf(source) ?? '')
/** True for sources in a job or waiting for one. */
export const isInWork = ({ status }: Source) => status !== 'ready' && status !== 'error'
/** Returns the pages of a website that could not be read. */
export const failedPagesOf = ({ config }: Source) => ('failedPages' in config && config.failedPages) || []
