/** Uploaded files, which become sources or replace the files of sources. */
import { extname } from 'node:path'
import type { Readable } from 'node:stream'
import type { Transaction } from 'kysely'
import { readChunking } from '#documents/chunking/chunking-form.ts'
import { documentFormatOf, documentFormats } from '#documents/parsing/document-format.ts'
import type { SourceEvents } from '#features/knowledge/knowledge.events.ts'
import { type Clock, timestamp } from '#platform/clock.ts'
import { AppError, conflict, invalid, required } from '#platform/errors.ts'
import type { Form, UploadTarget } from '#platform/http/requests/multipart.ts'
import type { ChangeContext, Outbox } from '#platform/jobs/jobs.ts'
import { laneLimits } from '#platform/jobs/lanes.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentTables } from '#storage/tables.ts'
import { discardJob, discardJobKey } from './jobs/discard-upload.job.ts'
import { addSourceJob, fetchJobName, processJobName, sourceJob } from './jobs/source-jobs.ts'
import { isInWork, workingStatus } from './source-status.ts'
import {
  countInWork,
  findNamedFile,
  findSource,
  insertSource,
  type SourceChanges,
  updateSource,
} from './sources.repository.ts'
import type { Source } from './sources.schema.ts'
import { storableName } from './storable-name.ts'

interface Dependencies extends ChangeContext<SourceEvents> {
  requireEmbedding(agentId: string): Promise<unknown>
}

/** A running upload, under the id of its future source. */
export interface Upload extends UploadTarget {
  id: string
}

const maxNameLength = 300

export function createUploads({ transact, requireEmbedding, clock, ids }: Dependencies) {
  return {
    /** Prepares to store an upload. Even if this process dies, no file stays without a source. */
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
          // If this fails, the job removes the file.
          if (isBegun) await agent.files.remove(id).catch(() => {})
        },
      }
    },

    /**
     * Creates the source of a stored upload, or adds the file to the uploaded source `replaced`; a job
     * processes it. With the form's field `replace`, the newest uploaded source of the same name gets the
     * file, if any. Former passages stay searchable until the new ones are. Throws if the form or the
     * settings are invalid.
     */
    async create(agent: AgentHandle, upload: Upload, form: Form, replaced?: string): Promise<Source> {
      try {
        const source = newSource(upload.id, form, timestamp(clock))
        const isReplacing = readReplace(form)
        await requireEmbedding(agent.agentId)
        return await transact(agent, async (transaction, outbox) => {
          const former =
            replaced !== undefined
              ? required(await findSource(transaction, replaced), 'Source')
              : isReplacing && (await findNamedFile(transaction, source.name))
          if (former) return await replace({ transaction, outbox, clock }, former, form, source)
          await insertSource(transaction, source)
          await outbox.cancel(discardJobKey(source.id))
          await outbox.add(sourceJob(processJobName, source.id))
          return source
        })
      } catch (error) {
        await upload.discard()
        throw error
      }
    },
  }
}

interface SourceChange {
  transaction: Transaction<AgentTables>
  outbox: Outbox
  clock: Clock
}

/** Starts a job that reads a source's file or fetches its content, with these changes. */
export async function processAnew(
  { transaction, outbox, clock }: SourceChange,
  source: Source,
  changes: SourceChanges = {},
): Promise<Source> {
  if (isInWork(source.status)) throw conflict('This source is being processed. Wait until it is ready.')
  const isFull = (await countInWork(transaction)) >= laneLimits.documents.perAgent
  const status = isFull ? 'pending' : workingStatus(source)
  const changed = { ...changes, status, error: null, progress: 0, updated_at: timestamp(clock) }
  await updateSource(transaction, source.id, changed)
  await addSourceJob(outbox, source.type === 'file' ? processJobName : fetchJobName, source.id)
  return { ...source, status }
}

/** Replaces the file. The source keeps its chunking and its own name, unless the form sets others. */
async function replace(
  change: SourceChange,
  former: Source,
  { fields }: Form,
  given: Source,
): Promise<Source> {
  const { config, file_path, name } = former
  if (!('file_name' in config && 'file_name' in given.config))
    throw invalid('sourceId', 'was not uploaded, so it has no file to replace')
  const { chunk_size, overlap, method } = config
  const keptFields = {
    method,
    chunk_size: String(chunk_size),
    ...(fields.chunk_size === undefined && { overlap: String(overlap) }),
  }
  const changes = {
    name: name === config.file_name || fields.name !== undefined ? given.name : name,
    file_path: given.id,
    config: { ...readChunking({ ...keptFields, ...fields }), file_name: given.config.file_name },
  }
  const source = await processAnew(change, former, changes)
  await change.outbox.cancel(discardJobKey(given.id))
  if (file_path !== undefined) await change.outbox.add(discardJob(file_path, change.clock.now()))
  return { ...source, ...changes }
}

function readReplace({ fields: { replace = 'false' } }: Form): boolean {
  if (replace !== 'true' && replace !== 'false') throw invalid('replace', 'must be "true" or "false"')
  return replace === 'true'
}

/** Throws UNSUPPORTED_MEDIA_TYPE for a file whose extension is not supported. */
export function requireDocument(fileName: string): void {
  if (documentFormatOf(storableName(fileName)) !== undefined) return
  const formats = documentFormats.map(format => `.${format}`).join(', ')
  const extension = extname(fileName)
  const refused = extension === '' ? 'without an extension' : `of the type "${extension}"`
  throw new AppError('UNSUPPORTED_MEDIA_TYPE', `Files ${refused} cannot be read. Upload one of ${formats}.`)
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
