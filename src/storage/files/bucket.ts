import type { Readable } from 'node:stream'
import type { S3mini, UploadPart } from 's3mini'
import { bucketFailure, isMissing } from './bucket-failure.ts'
import type { BucketSettings, FileStore } from './file-store.ts'
import { inParts } from './in-parts.ts'

/** One bucket for the files of all agents. All its failures are AppErrors without secrets. */
export interface FileBucket {
  filesOf(agentId: string): FileStore
  /** Removes the files of a deleted agent; succeeds if there are none. */
  removeFilesOf(agentId: string): Promise<void>
}

/** Bytes of a part; a file that fits into one is stored with one request. S3 accepts no smaller parts. */
const partSize = 5 * 1024 * 1024
/** Milliseconds for one request including its body: less than a worker gets to read a file. */
const requestLimit = 30_000
/** Objects that are listed and removed at a time. */
const pageSize = 1000
const removedAtOnce = 10

export function createFileBucket(settings: BucketSettings): FileBucket {
  async function attempt<Result>(work: (client: S3mini) => Promise<Result>): Promise<Result> {
    const client = await connect(settings)
    return await work(client).catch(error => {
      throw bucketFailure(error, settings)
    })
  }

  const remove = (client: S3mini, key: string) => client.deleteObject(key).catch(unlessMissing)

  return {
    filesOf(agentId) {
      const keyOf = (name: string) => `${prefixOf(agentId)}${name}`
      return {
        write: (name, content) => write(attempt, keyOf(name), content),
        remove: name => attempt(async client => void (await remove(client, keyOf(name)))),
        sizeOf: name => attempt(async client => await sizeOf(client, keyOf(name)).catch(unlessMissing)),
        async *read(name, { start, end }) {
          // Reads part by part, because each request has its time limit, however slow its reader is.
          for (let from = start; from < end; from += partSize) {
            const to = Math.min(from + partSize, end)
            yield await attempt(async client => {
              const answer = await client.getObjectRaw(keyOf(name), false, from, to)
              return new Uint8Array(await answer.arrayBuffer())
            })
          }
        },
        locate: name => ({ kind: 'bucket', settings, key: keyOf(name) }),
      }
    },

    removeFilesOf: agentId =>
      attempt(async client => {
        for await (const keys of pages(client, prefixOf(agentId)))
          for (let start = 0; start < keys.length; start += removedAtOnce)
            await Promise.all(keys.slice(start, start + removedAtOnce).map(key => remove(client, key)))
      }),
  }
}

/** Returns undefined if there is no such object. */
export async function readObject(settings: BucketSettings, key: string): Promise<Uint8Array | undefined> {
  const client = await connect(settings)
  try {
    return new Uint8Array(await (await client.getObjectRaw(key)).arrayBuffer())
  } catch (error) {
    if (isMissing(error)) return undefined
    throw bucketFailure(error, settings)
  }
}

/** The library is loaded on first use. Addresses are path-style, which every server understands. */
async function connect({ endpoint, bucket, ...access }: BucketSettings): Promise<S3mini> {
  const { S3mini } = await import('s3mini')
  return new S3mini({
    ...access,
    endpoint: `${endpoint.replace(/\/+$/, '')}/${bucket}`,
    requestAbortTimeout: requestLimit,
  })
}

/** Returns the bytes of a file that is not empty. A response to HEAD has no place for a reason of failure. */
async function sizeOf(client: S3mini, key: string): Promise<number> {
  const answer = await client.getObjectRaw(key, false, 0, 1)
  await answer.body?.cancel()
  const [, size] = /\/(\d+)$/.exec(answer.headers.get('content-range') ?? '') ?? []
  if (size === undefined) throw new Error('the size was not answered')
  return Number(size)
}

function prefixOf(agentId: string): string {
  return `agents/${agentId}/`
}

type Attempt = <Result>(work: (client: S3mini) => Promise<Result>) => Promise<Result>

/** Small files are sent in one request, others in parts. Errors of the stream itself are passed on as they are. */
async function write(attempt: Attempt, key: string, content: Readable): Promise<void> {
  let uploadId: string | undefined
  const sentParts: UploadPart[] = []
  try {
    for await (const part of inParts(content, partSize)) {
      if (uploadId === undefined && part.length < partSize) {
        await attempt(client => client.putObject(key, part))
        return
      }
      const id = uploadId ?? (await attempt(client => client.getMultipartUploadId(key)))
      uploadId = id
      sentParts.push(await attempt(client => client.uploadPart(key, id, part, sentParts.length + 1)))
    }
    const id = uploadId
    if (id !== undefined) await attempt(client => complete(client, key, id, sentParts))
  } catch (error) {
    const id = uploadId
    // The bucket itself might have failed: its lifecycle rules then remove the sent parts.
    if (id !== undefined) await attempt(client => client.abortMultipartUpload(key, id)).catch(() => {})
    throw error
  }
}

/** S3 can find out late that it cannot join the parts: the response is then 200 with an error. */
async function complete(client: S3mini, key: string, id: string, parts: UploadPart[]): Promise<void> {
  const { etag } = await client.completeMultipartUpload(key, id, parts)
  if (!etag) throw new Error('the parts were not put together')
}

/** Yields the keys that begin with the prefix, page by page. */
async function* pages(client: S3mini, prefix: string): AsyncGenerator<string[]> {
  let next: string | undefined
  do {
    const page = await client.listObjectsPaged('/', prefix, pageSize, next)
    if (!page) throw new Error('there is no such bucket')
    yield (page.objects ?? []).map(object => object.Key)
    next = page.nextContinuationToken
  } while (next !== undefined)
}

function unlessMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error
}
