import { readText } from '#features/knowledge/document-text.service.ts'
import { AppError, invalid, required } from '#platform/errors.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { findDocument } from './crawl/crawl.repository.ts'
import { findLiveSource } from './sources.repository.ts'
import type { TextQuery } from './sources.schema.ts'

/** Reads the stored upload of a source. */
export async function readFile(agent: AgentHandle, id: string) {
  const { config, file_path } = await findSource(agent, id)
  if (file_path === undefined || !('file_name' in config))
    throw new AppError('NOT_FOUND', 'This source has no file. Read its text instead.')
  const size = required(await agent.files.sizeOf(file_path), 'File')
  const read = (range: { start: number; end: number }) => agent.files.read(file_path, range)
  return { name: config.file_name, size, read }
}

/** Reads a part of the searchable text of a source, or of a website's page. */
export async function readSourceText(agent: AgentHandle, id: string, query: TextQuery) {
  const { url, start = 0, end = Number.MAX_SAFE_INTEGER } = query
  const { type } = await findSource(agent, id)
  if (type === 'crawl' && url === undefined)
    throw invalid('url', 'is required: the source is a website, and each of its pages has its own text')
  if (type !== 'crawl' && url !== undefined)
    throw invalid('url', 'is for websites; leave it out, since this source is one document')
  if (end < start) throw invalid('end', 'must not be less than start')
  const document = url === undefined ? '' : required(await findDocument(agent.db, id, url), 'Page')
  return await readText(agent.db, { sourceId: id, document, start, end })
}

async function findSource({ db }: AgentHandle, id: string) {
  return required(await findLiveSource(db, id), 'Source')
}
