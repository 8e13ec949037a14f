import type { Readable } from 'node:stream'

/** The uploads of one agent, wherever they are kept. Names are made by us. */
export interface FileStore {
  /**
   * Stores the whole stream, no faster than it can be stored. `remove` deletes what a write that failed or never ended has
   * left.
   */
  write(name: string, content: Readable): Promise<void>
  /** Succeeds if there is no such file. */
  remove(name: string): Promise<void>
  /** Where `readStoredFile` finds the file, also in a worker thread. Part of it may be a secret: it is never logged. */
  locate(name: string): FileLocation
}

/** Plain data. */
export type FileLocation =
  | { kind: 'directory'; path: string }
  | { kind: 'database'; database: string; name: string }
  | { kind: 'bucket'; settings: BucketSettings; key: string }

/** A bucket of a server that speaks S3, with the keys to it. */
export interface BucketSettings {
  /** Address of the server, without the bucket. */
  endpoint: string
  bucket: string
  region: string
  accessKeyId: string
  secretAccessKey: string
}
