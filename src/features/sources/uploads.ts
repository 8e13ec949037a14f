/** Files that are uploaded, which become sources or replace the files of sources. */
import { extname } from 'node:path'
import type { Readable } from 'node:stream'
import { readChunking } from '#documents/chunking/chunking-form.ts'
import { documentFormatOf, documentFormats } from '#documents/parsing/document-format.ts'
import type { SourceEvents } from '#features/knowledge/knowledge.events.ts'
import { timestamp } from '#platform/clock.ts'
import { AppError, invalid, notFound } from '#platform/errors.ts'
import type { Form, UploadTarget } from '#platform/http/requests/multipart.ts'
import type { ChangeContext } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { discardJob, discardJobKey } from './jobs/discard-upload.job.ts'
import { processJobName, sourceJob } from './jobs/source-jobs.ts'
import type { SourceChange } from './process-anew.ts'
import { processAnew } from './process-anew.ts'
import { findNamedFile, findSource, insertSource } from './sources.repository.ts'
import type { Source } from './sources.schema.ts'
import { storableName } from './storable-name.ts'

interface Dependencies extends ChangeContext<SourceEvents> {
  requireEmbedding(agentId: string): Promise<unknown>
}

/** A file that is being uploaded, under the id of the source that it will become. */
export interface Upload extends UploadTarget {
  id: string
}

const maxNameLength = 300

export function createUploads({ transact, requireEmbedding, clock, ids }: Dependencies) {
  return {
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
     * Creates the source of a stored upload; a job processes it. With the field `replace`, the newest uploaded source of the
     * same name gets the file instead, if there is one. Throws if something is wrong with the form or the settings.
     */
    create: (agent: AgentHandle, upload: Upload, form: Form): Promise<Source> =>
      orDiscarded(upload, async () => {
        const source = newSource(upload.id, form, timestamp(clock))
        const isReplacing = readReplace(form)
        await requireEmbedding(agent.agentId)
        return await transact(agent, async (transaction, outbox) => {
          const former = isReplacing ? await findNamedFile(transaction, source.name) : undefined
          if (former !== undefined) return await replace({ transaction, outbox, clock }, former, form, source)
          await insertSource(transaction, source)
          await outbox.cancel(discardJobKey(source.id))
          await outbox.add(sourceJob(processJobName, source.id))
          return source
        })
      }),

    /** Gives an uploaded source another file; the passages of the former one are found until those of this one are. */
    replaceFile: (agent: AgentHandle, id: string, upload: Upload, form: Form): Promise<Source> =>
      orDiscarded(upload, async () => {
        const given = newSource(upload.id, form, timestamp(clock))
        await requireEmbedding(agent.agentId)
        return await transact(agent, async (transaction, outbox) => {
          const former = await findSource(transaction, id)
          if (former === undefined) throw notFound('Source')
          if (former.type !== 'file')
            throw invalid('sourceId', 'was not uploaded, so it has no file to replace')
          return await replace({ transaction, outbox, clock }, former, form, given)
        })
      }),
  }
}

/** The source keeps its chunking, and a name that is not its file's, unless the form has others. */
async function replace(
  change: SourceChange,
  former: Source,
  { fields }: Form,
  given: Source,
): Promise<Source> {
  const { config, file_path, name } = former
  if (!('file_name' in config && 'file_name' in given.config)) throw notFound('File')
  const { chunk_size, overlap, method } = config
  const kept = {
    method,
    chunk_size: String(chunk_size),
    ...(fields.chunk_size === undefined && { overlap: String(overlap) }),
  }
  const changes = {
    name: name === config.file_name || fields.name !== undefined ? given.name : name,
    file_path: given.id,
    config: { ...readChunking({ ...kept, ...fields }), file_name: given.config.file_name },
  }
  const source = await processAnew(change, former, changes)
  await change.outbox.cancel(discardJobKey(given.id))
  if (file_path !== undefined) await change.outbox.add(discardJob(file_path, change.clock.now()))
  return { ...source, ...changes }
}

async function orDiscarded<Result>(upload: Upload, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    await upload.discard()
    throw error
  }
}

function readReplace({ fields: { replace = 'false' } }: Form): boolean {
  if (replace !== 'true' && replace !== 'false') throw invalid('replace', 'must be "true" or "false"')
  return replace === 'true'
}

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
