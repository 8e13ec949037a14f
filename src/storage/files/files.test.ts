import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { beforeEach, describe, expect, it, onTestFinished, test } from 'vitest'
import { failure, startBucket, type TestBucket } from '#test/support/bucket.ts'
import { testApp } from '#test/support/build-app.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import { createFileBucket } from './bucket.ts'
import { bucketFailure } from './bucket-failure.ts'
import { createDatabaseFiles } from './database.ts'
import { createDirectoryFiles } from './directory.ts'
import type { FileStore } from './file-store.ts'
import { inParts } from './in-parts.ts'
import { readStoredFile } from './read-file.ts'

const kibibyte = 1024
const mebibyte = 1024 * kibibyte

interface Stage {
  files: FileStore
  /** Names of whatever is stored. */
  names(): Promise<string[]>
}

/** In the database that the project's tests run on. */
async function databaseStage(): Promise<Stage & { parts(): Promise<number[]> }> {
  const app = await testApp()
  const agent = await app.service.infrastructure.agentDatabases.acquire('default')
  onTestFinished(() => agent.release())
  const files = createDatabaseFiles(agent)
  const parts = agent.db.selectFrom('file_parts').orderBy('file_id')
  return {
    files,
    names: async () => (await parts.select('file_id').distinct().execute()).map(row => row.file_id),
    parts: async () =>
      (await parts.orderBy('number').select('content').execute()).map(({ content }) => content.length),
  }
}

async function directoryStage(): Promise<Stage & { folder: string }> {
  const folder = temporaryDirectory()
  return { folder, files: createDirectoryFiles(folder), names: async () => readdirSync(folder) }
}

async function bucketStage(): Promise<Stage & { bucket: TestBucket }> {
  const bucket = await startBucket()
  const names = async () => [...bucket.objects.keys()].map(key => key.replace('agents/a/', ''))
  return { bucket, files: createFileBucket(bucket.settings).filesOf('a'), names }
}

/** Bytes as a network brings them, in chunks that fit no part. */
function streamOf(bytes: Buffer, chunk = 60_000): Readable {
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunk) }, (_, index) =>
    bytes.subarray(index * chunk, (index + 1) * chunk),
  )
  return Readable.from(chunks, { objectMode: false })
}

/** Ends in an error, as when the sender goes away. */
function brokenStream(bytes: Buffer): Readable {
  return Readable.from(
    (async function* () {
      yield bytes
      throw new Error('the sender went away')
    })(),
    { objectMode: false },
  )
}

describe.each<[kind: string, open: () => Promise<Stage>]>([
  ['directory', directoryStage],
  ['database', databaseStage],
  ['bucket', bucketStage],
])('files in a %s', (_kind, open) => {
  let stage: Stage

  beforeEach(async () => {
    stage = await open()
  })

  it.each([1, 256 * kibibyte - 1, 256 * kibibyte, 256 * kibibyte + 1, 5 * mebibyte, 12 * mebibyte + 7])(
    'come back as they were: %i bytes',
    async size => {
      const bytes = randomBytes(size)
      await stage.files.write('one', streamOf(bytes))
      await stage.files.write('two', streamOf(Buffer.from('another')))
      const location = structuredClone(stage.files.locate('one'))
      expect(Buffer.compare(await readStoredFile(location), bytes)).toBe(0)
      expect(await stage.names()).toEqual(['one', 'two'])
    },
  )

  it.each([
    [0, 0],
    [0, 10],
    [256 * kibibyte - 3, 256 * kibibyte + 3],
    [256 * kibibyte, 512 * kibibyte],
    [600 * kibibyte - 1, 6 * mebibyte],
    [6 * mebibyte - 1, 6 * mebibyte],
  ])('are read in part: from byte %i up to %i', async (start, end) => {
    const bytes = randomBytes(6 * mebibyte)
    await stage.files.write('one', streamOf(bytes))
    expect(await stage.files.sizeOf('one')).toBe(bytes.length)
    expect(await stage.files.sizeOf('none')).toBeUndefined()
    const parts = await Array.fromAsync(stage.files.read('one', { start, end }))
    expect(Buffer.compare(Buffer.concat(parts), bytes.subarray(start, end))).toBe(0)
  })

  it('are removed, also where there are none', async () => {
    for (const name of ['one', 'two']) await stage.files.write(name, streamOf(Buffer.from(name)))
    await stage.files.remove('one')
    await stage.files.remove('one')
    expect(await stage.names()).toEqual(['two'])
    await expect(readStoredFile(stage.files.locate('one'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it.each([10, 11 * mebibyte])(
    'are gone after a removal when their sender went away: %i bytes',
    async size => {
      const writing = stage.files.write('half', brokenStream(randomBytes(size)))
      await expect(writing).rejects.toThrow('the sender went away')
      await stage.files.remove('half')
      expect(await stage.names()).toEqual([])
    },
  )
})

test('a file in a directory is readable by its owner only', async () => {
  const { files, folder } = await directoryStage()
  await files.write('one', streamOf(Buffer.from('text')))
  expect(statSync(join(folder, 'one')).mode & 0o777).toBe(0o600)
})

test.each(['', '.', '..', '../one', 'a/b', 'a\\b', '/one', 'one.txt', 'a\0b'])(
  'a name that could lead out of a directory is refused: %j',
  async name => {
    const { files } = await directoryStage()
    const words = 'not a name of a file'
    expect(() => files.locate(name)).toThrow(words)
    await expect(files.write(name, streamOf(Buffer.from('text')))).rejects.toThrow(words)
    await expect(files.remove(name)).rejects.toThrow(words)
  },
)

test('what is no file of a directory is an error of the disk, not a missing file', async () => {
  const { files, folder } = await directoryStage()
  mkdirSync(join(folder, 'one'))
  await expect(readStoredFile(files.locate('one'))).rejects.toThrow('EISDIR')
})

test('a database takes a file in parts while it arrives', async () => {
  const { files, parts } = await databaseStage()
  const bytes = randomBytes(600 * kibibyte)
  const asked: number[][] = []
  const content = Readable.from(
    (async function* () {
      for (let start = 0; start < bytes.length; start += 100 * kibibyte) {
        asked.push(await parts())
        yield bytes.subarray(start, start + 100 * kibibyte)
      }
    })(),
    { objectMode: false, highWaterMark: 1 },
  )
  await files.write('one', content)
  expect(asked.at(-1)).toContain(256 * kibibyte)
  expect(await parts()).toEqual([256, 256, 88].map(size => size * kibibyte))
})

test('parts are of one size, but the last', async () => {
  const sizes: number[] = []
  for await (const part of inParts(streamOf(randomBytes(95), 30), 20)) sizes.push(part.length)
  expect(sizes).toEqual([20, 20, 20, 20, 15])
})

describe('a bucket', () => {
  it('gets a small file with one request and a large one in parts, one after the other', async () => {
    const { files, bucket } = await bucketStage()
    await files.write('small', streamOf(randomBytes(100)))
    await files.write('large', streamOf(randomBytes(12 * mebibyte)))
    expect(bucket.requests.map(request => request.replace(/upload-\d+/, 'u'))).toEqual([
      'PUT agents/a/small',
      'POST agents/a/large?uploads=',
      ...[1, 2, 3].map(number => `PUT agents/a/large?partNumber=${number}&uploadId=u`),
      'POST agents/a/large?uploadId=u',
    ])
  })

  it.each([
    ['the sender goes away', undefined, 'the sender went away'],
    ['a part is refused', 'partNumber=2', 'status 503 (SlowDown)'],
  ])('is left without a half upload when %s', async (_when, refused, message) => {
    const { files, bucket } = await bucketStage()
    if (refused !== undefined)
      bucket.trouble = request => (request.includes(refused) ? failure(503, 'SlowDown') : undefined)
    const writing = files.write('large', brokenStream(randomBytes(15 * mebibyte)))
    await expect(writing).rejects.toThrow(message)
    expect(bucket.uploads.size).toBe(0)
    expect(bucket.objects.size).toBe(0)
  })

  it('that cannot put the parts together says so within a 200, which is an error all the same', async () => {
    const { files, bucket } = await bucketStage()
    bucket.trouble = request =>
      request.startsWith('POST') && request.includes('uploadId')
        ? { ...failure(500, 'InternalError'), status: 200 }
        : undefined
    const writing = files.write('large', streamOf(randomBytes(6 * mebibyte)))
    await expect(writing).rejects.toMatchObject({ code: 'INTERNAL_ERROR' })
  })

  it('loses the files of one agent, page by page, and those of no other', async () => {
    const { files, bucket } = await bucketStage()
    const all = createFileBucket(bucket.settings)
    await files.write('one', streamOf(Buffer.from('text')))
    for (let number = 0; number < 1100; number += 1)
      bucket.objects.set(`agents/a/file-${number}`, Buffer.from('text'))
    await all.filesOf('ab').write('other', streamOf(Buffer.from('text')))
    await all.removeFilesOf('a')
    expect([...bucket.objects.keys()]).toEqual(['agents/ab/other'])
    expect(bucket.requests.filter(request => request.startsWith('GET'))).toHaveLength(2)
    await all.removeFilesOf('a')
  })
})

describe('a bucket that fails', () => {
  const echo = ({ settings }: TestBucket) => `${settings.accessKeyId} signed with ${settings.secretAccessKey}`

  it.each<[what: string, trouble: (bucket: TestBucket) => Promise<void> | void, message: string]>([
    ['is down', bucket => bucket.close(), 'The bucket for files could not be reached (ECONNREFUSED).'],
    [
      'refuses the key, and repeats it',
      bucket => {
        bucket.trouble = () => failure(403, 'SignatureDoesNotMatch', echo(bucket))
      },
      'The bucket for files answered with status 403 (SignatureDoesNotMatch).',
    ],
    [
      'names the key where a code should be',
      bucket => {
        bucket.trouble = () => failure(403, bucket.settings.secretAccessKey)
      },
      'The bucket for files answered with status 403.',
    ],
    [
      'is not there',
      bucket => {
        bucket.settings.bucket = 'nothing-here'
      },
      'The bucket for files answered with status 404 (NoSuchBucket).',
    ],
  ])('says so without a secret when it %s', async (_what, trouble, message) => {
    const bucket = await startBucket()
    await trouble(bucket)
    const files = createFileBucket(bucket.settings).filesOf('a')
    for (const work of [
      () => files.write('one', streamOf(Buffer.from('text'))),
      () => files.write('one', streamOf(randomBytes(6 * mebibyte))),
      () => files.remove('one'),
      () => readStoredFile(files.locate('one')),
      () => files.sizeOf('one'),
      () => Array.fromAsync(files.read('one', { start: 0, end: 9 })),
    ]) {
      const error = await work().catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'INTERNAL_ERROR', message })
      expect(error).not.toHaveProperty('cause')
    }
    await expect(createFileBucket(bucket.settings).removeFilesOf('a')).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
      message: expect.stringContaining('The bucket for files'),
    })
  })

  it('says so when it takes too long', async () => {
    const { settings } = await startBucket()
    const error = bucketFailure(new DOMException('The operation was aborted', 'TimeoutError'), settings)
    expect(error.message).toBe('The bucket for files did not answer in time.')
  })
})
