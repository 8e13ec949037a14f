import { extname } from 'node:path'
import type { Readable } from 'node:stream'
import { readChunking } from '#documents/chunking/chunking-form.ts'
import { documentFormatOf, documentFormats } from '#documents/parsing/document-format.ts'
import type { IndexingService } from '#features/knowledge/indexing.service.ts'
import type { SourceEvents } from '#features/knowledge/knowledge.events.ts'
import { timestamp } from '#platform/clock.ts'
import { AppError, conflict, invalid, notFound } from '#platform/errors.ts'
import type { Form, UploadTarget } from '#platform/http/requests/multipart.ts'
import type { ChangeContext } from '#platform/jobs/jobs.ts'
import { laneLimits } from '#platform/jobs/lanes.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { discardJob, discardJobKey } from './jobs/discard-upload.job.ts'
import { addSourceJob, fetchJobName, processJobName, removeJobName, sourceJob } from './jobs/source-jobs.ts'
import { isInWork, workingStatus } from './source-status.ts'
import {
  countInWork,
  findLiveSource,
  findSource,
  insertSource,
  listSources,
  updateSource,
} from './sources.repository.ts'
import type { Source, SourceListQuery } from './sources.schema.ts'
import { storableName } from './storable-name.ts'

interface Dependencies extends ChangeContext<SourceEvents> {
  /** Throws the reason if the agent's documents can't be embedded, such as MODEL_NOT_CONFIGURED. */
  requireEmbedding(agentId: string): Promise<unknown>
  indexing: Pick<IndexingService, 'hide'>
}

/** A file that is being uploaded, under the id of the source that it will become. */
export interface Upload extends UploadTarget {
  id: string
}

const maxNameLength = 300

export function createSourcesService(needs: Dependencies) {
  const { transact, requireEmbedding, indexing, clock, ids } = needs

  async function find(agent: AgentHandle, id: string): Promise<Source> {
    const source = await findLiveSource(agent.db, id)
    if (source === undefined) throw notFound('Source')
    return source
  }

  return {
    find,

    list: (agent: AgentHandle, query: SourceListQuery) => listSources(agent.db, query),

    /** Prepares to store an upload. Even if this process dies, no file is left behind without a source. */
    beginUpload(agent: AgentHandle): Upload {
      const id = ids.record()
      let isBegun = false
      return {
        id,
        async store(content: Readable) {
          await transact(agent, (_, outbox) => outbox.add(discardJob(id, clock.now())))
          isBegun = true
          await agent.files.write(id, content)
        },
        async discard() {
          // If this fails, the job does it.
          if (isBegun) await agent.files.remove(id).catch(() => {})
        },
      }
    },

    /**
     * Creates the source of a stored upload; a job processes it. Throws if something is wrong with the form or the
     * settings.
     */
    async create(agent: AgentHandle, upload: Upload, form: Form): Promise<Source> {
      try {
        const source = newSource(upload.id, form, timestamp(clock))
        await requireEmbedding(agent.agentId)
        await transact(agent, async (transaction, outbox) => {
          await insertSource(transaction, source)
          await outbox.cancel(discardJobKey(source.id))
          await outbox.add(sourceJob(processJobName, source.id))
        })
        return source
      } catch (error) {
        await upload.discard()
        throw error
      }
    },

    /** Has the stored file read again, or the content fetched again; what was found before stays searchable until then. */
    async refresh(agent: AgentHandle, id: string): Promise<Source> {
      const { type } = await find(agent, id)
      if (type === 'crawl') throw invalid('sourceId', 'is a website; use reindex to crawl it again')
      await requireEmbedding(agent.agentId)
      return transact(agent, async (transaction, outbox) => {
        const source = await findSource(transaction, id)
        if (source === undefined) throw notFound('Source')
        if (isInWork(source.status)) throw conflict('This source is being processed. Wait until it is ready.')
        const isFull = (await countInWork(transaction)) >= laneLimits.documents.perAgent
        const status = isFull ? 'pending' : workingStatus(source)
        const changes = { status, error: null, progress: 0, updated_at: timestamp(clock) }
        await updateSource(transaction, id, changes)
        await addSourceJob(outbox, type === 'file' ? processJobName : fetchJobName, id)
        return { ...source, status }
      })
    },

    /** Hides the source and cancels its processing; a job removes its chunks and its file. */
    async remove(agent: AgentHandle, id: string): Promise<void> {
      await transact(agent, async (transaction, outbox) => {
        const now = timestamp(clock)
        if (!(await updateSource(transaction, id, { removed_at: now, updated_at: now })))
          throw notFound('Source')
        await indexing.hide(transaction, id)
        await addSourceJob(outbox, removeJobName, id)
      })
    },
  }
}

export type SourcesService = ReturnType<typeof createSourcesService>

/** Throws UNSUPPORTED_MEDIA_TYPE for a file whose extension is not supported. */
export function requireDocument(fileName: string): void {
  if (documentFormatOf(storableName(fileName)) !== undefined) return
  const known = documentFormats.map(format => `.${format}`).join(', ')
  const extension = extname(fileName)
  const refused = extension === '' ? 'without an extension' : `of the type "${extension}"`
  throw new AppError('UNSUPPORTED_MEDIA_TYPE', `Files ${refused} cannot be read. Upload one of ${known}.`)
}

function newSource(id: string, { fields, file }: Form, now: string): Source {
  const type = fields.type ?? 'file'
  if (type !== 'file')
    throw invalid('type', 'must be "file" in a form; send a source of type "database" or "api" as JSON')
  if (file === undefined) throw invalid('file', 'is required: send the document as the form field "file"')
  if (file.field !== 'file')
    throw invalid(file.field, 'is not a known file field; the document belongs into "file"')
  const fileName = storableName(file.name)
  const name = storableName(fields.name ?? '') || fileName
  if (name.length > maxNameLength)
    throw invalid('name', `must not have more than ${maxNameLength} characters`)
  return {
    id,
    type,
    name,
    status: 'processing',
    progress: 0,
    file_path: id,
    config: { ...readChunking(fields), file_name: fileName },
    created_at: now,
    updated_at: now,
  }
}
