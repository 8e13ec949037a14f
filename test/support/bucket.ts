/**
 * A server that speaks as much S3 as files need, with one bucket in memory: addresses of the path style, signed requests
 * only, uploads in parts of at least 5 MiB, lists in pages.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { BucketSettings } from '#storage/files/file-store.ts'

export interface TestBucket {
  settings: BucketSettings
  /** What a service is given to use it. */
  environment: Record<string, string>
  objects: Map<string, Buffer>
  /** Uploads in parts that are neither complete nor aborted. */
  uploads: Map<string, Map<number, Buffer>>
  /** Method, key and query of each request. */
  requests: string[]
  /** Answers in place of the server; the request is carried out when it returns undefined. */
  trouble: ((request: string) => BucketAnswer | undefined) | undefined
  close(): Promise<void>
}

export interface BucketAnswer {
  status: number
  xml?: string
  body?: Buffer
  headers?: Record<string, string>
}

interface BucketRequest {
  method: string
  key: string
  query: URLSearchParams
  range: string | undefined
  body: Buffer
}

const bucketName = 'uploads'
const region = 'eu-test-1'
const accessKeyId = 'AKIATESTONLY4F9B'
const secretAccessKey = 'bucket-secret-77d2e0'
/** Objects of one list at most, however many are asked for. */
const maxPageLength = 1000
const smallestPart = 5 * 1024 * 1024

/** Closed when the running test has finished; may be closed earlier. */
export async function startBucket(): Promise<TestBucket> {
  const server = createServer((request, response) => {
    answer(bucket, request, response).catch(error => response.destroy(error))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const bucket: TestBucket = {
    settings: { endpoint, bucket: bucketName, region, accessKeyId, secretAccessKey },
    environment: {
      FILES_S3_ENDPOINT: endpoint,
      FILES_S3_BUCKET: bucketName,
      FILES_S3_REGION: region,
      FILES_S3_ACCESS_KEY_ID: accessKeyId,
      FILES_S3_SECRET_ACCESS_KEY: secretAccessKey,
    },
    objects: new Map(),
    uploads: new Map(),
    requests: [],
    trouble: undefined,
    async close() {
      if (!server.listening) return
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  onTestFinished(() => bucket.close())
  return bucket
}

async function answer(bucket: TestBucket, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://bucket')
  const [, name, ...rest] = pathname.split('/')
  const key = rest.map(decodeURIComponent).join('/')
  const method = request.method ?? ''
  const line = `${method} ${key}${searchParams.size > 0 ? `?${searchParams}` : ''}`
  bucket.requests.push(line)
  const carryOut = () => {
    if (!isSigned(request)) return failure(403, 'AccessDenied')
    if (name !== bucketName) return failure(404, 'NoSuchBucket')
    const { range } = request.headers
    return serve(bucket, { method, key, query: searchParams, range, body: Buffer.concat(chunks) })
  }
  const { status, xml, body, headers } = bucket.trouble?.(line) ?? carryOut()
  response.writeHead(status, { ...(xml !== undefined && { 'content-type': 'application/xml' }), ...headers })
  response.end(xml ?? body)
}

/** With the right key, for the right region, and with a signature of the right form. */
function isSigned({ headers }: IncomingMessage): boolean {
  const scope = `Credential=${accessKeyId}/\\d{8}/${region}/s3/aws4_request`
  const form = new RegExp(`^AWS4-HMAC-SHA256 ${scope}, SignedHeaders=[a-z0-9;-]+, Signature=[0-9a-f]{64}$`)
  return form.test(headers.authorization ?? '')
}

/** An answer of S3 to what it can't do; `message` is for people. */
export function failure(status: number, code: string, message = ''): BucketAnswer {
  return { status, xml: `<Error><Code>${code}</Code><Message>${message}</Message></Error>` }
}

function serve(bucket: TestBucket, request: BucketRequest): BucketAnswer {
  const { method, key, query } = request
  if (key === '' && query.get('list-type') === '2') return list(bucket, query)
  if (query.has('uploads') || query.has('uploadId')) return serveUpload(bucket, request)
  const object = bucket.objects.get(key)
  if (method === 'GET') return object === undefined ? failure(404, 'NoSuchKey') : read(object, request.range)
  if (method === 'PUT') bucket.objects.set(key, request.body)
  else bucket.objects.delete(key)
  return { status: method === 'PUT' ? 200 : 204 }
}

function read(object: Buffer, range: string | undefined): BucketAnswer {
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? []
  if (from === undefined) return { status: 200, body: object }
  const headers = { 'content-range': `bytes ${from}-${to}/${object.length}` }
  return { status: 206, headers, body: object.subarray(Number(from), Number(to) + 1) }
}

function serveUpload(bucket: TestBucket, { method, key, query, body }: BucketRequest): BucketAnswer {
  if (query.has('uploads')) {
    const id = `upload-${bucket.requests.length}`
    bucket.uploads.set(id, new Map())
    return {
      status: 200,
      xml: `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
    }
  }
  const id = query.get('uploadId') ?? ''
  const parts = bucket.uploads.get(id)
  if (parts === undefined) return failure(404, 'NoSuchUpload')
  if (method === 'PUT') {
    parts.set(Number(query.get('partNumber')), body)
    return { status: 200, headers: { etag: `"${etagOf(body)}"` } }
  }
  bucket.uploads.delete(id)
  if (method === 'DELETE') return { status: 204 }
  return complete(
    bucket,
    key,
    [...parts.entries()].toSorted(([one], [other]) => one - other),
    body,
  )
}

function complete(
  bucket: TestBucket,
  key: string,
  parts: [number: number, bytes: Buffer][],
  body: Buffer,
): BucketAnswer {
  const expected = parts.map(
    ([number, bytes]) => `<Part><PartNumber>${number}</PartNumber><ETag>${etagOf(bytes)}</ETag></Part>`,
  )
  if (body.toString() !== `<CompleteMultipartUpload>${expected.join('')}</CompleteMultipartUpload>`)
    return failure(400, 'InvalidPart')
  if (parts.slice(0, -1).some(([, bytes]) => bytes.length < smallestPart))
    return failure(400, 'EntityTooSmall')
  bucket.objects.set(key, Buffer.concat(parts.map(([, bytes]) => bytes)))
  const result = `<Key>${key}</Key><ETag>"complete"</ETag>`
  return { status: 200, xml: `<CompleteMultipartUploadResult>${result}</CompleteMultipartUploadResult>` }
}

function list(bucket: TestBucket, query: URLSearchParams): BucketAnswer {
  const after = query.get('continuation-token') ?? ''
  const prefix = query.get('prefix') ?? ''
  const keys = [...bucket.objects.keys()].filter(key => key.startsWith(prefix) && key > after).toSorted()
  const page = keys.slice(0, Math.min(Number(query.get('max-keys')), maxPageLength))
  const isTruncated = keys.length > page.length
  const contents = page.map(key => `<Contents><Key>${key}</Key></Contents>`).join('')
  const next = isTruncated ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''
  const result = `<IsTruncated>${isTruncated}</IsTruncated>${contents}${next}`
  return { status: 200, xml: `<ListBucketResult>${result}</ListBucketResult>` }
}

function etagOf(bytes: Buffer): string {
  return createHash('md5').update(bytes).digest('hex')
}
