import type { Kysely } from 'kysely'
import type { WakeUps } from '#platform/jobs/wake-ups.ts'
import type { StorageEngine } from '../engine.ts'
import type { SearchEngine } from '../search-engine.ts'
import type { PlatformTables } from '../tables.ts'
import type { Catalogue } from './catalogue.ts'
import type { Row } from './digest.ts'

/** A database whose tables are known by their names only. */
export type AnyDatabase = Kysely<Record<string, Row>>

/** Where data is copied from, or to. */
export interface StorageEnd {
  /** Address or folder as people may see it: without a password. */
  name: string
  engine: Pick<StorageEngine, 'schema' | 'openAgent' | 'removeAgent'>
  catalogue: Catalogue
  search: Pick<SearchEngine, 'writeFullText' | 'countTerms'>
  /** At its newest schema. */
  platform: Kysely<PlatformTables>
  /** The agents whose databases are there, whether the platform knows them or not. */
  storedAgents(): Promise<string[]>
  /** File of the generated encryption key; undefined where it is no part of the data. */
  keyFile: string | undefined
  openWakeUps(): Promise<Pick<WakeUps, 'pull' | 'stop'>>
  /** @throws Error when a service may have come to this data since it was opened. */
  requireUntouched(): Promise<void>
  /** What a service has to be told to use this data. */
  startWith: string
  close(): Promise<void>
}
