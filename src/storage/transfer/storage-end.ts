import type { Kysely } from 'kysely'
import type { ByLane } from '#platform/jobs/lanes.ts'
import type { WakeUps } from '#platform/jobs/wake-ups.ts'
import type { StorageEngine } from '../engine.ts'
import type { SearchEngine } from '../search/search-engine.ts'
import type { PlatformTables } from '../tables.ts'
import type { Catalogue } from './catalogue.ts'
import type { Row } from './digest.ts'

/** A database whose tables are known only by name. */
export type AnyDatabase = Kysely<Record<string, Row>>

/** The source or the target of a copy. */
export interface StorageEnd {
  /** Address or folder, without a password, so that it can be shown. */
  name: string
  engine: Pick<StorageEngine, 'schema' | 'openAgent' | 'removeAgent'>
  catalogue: Catalogue
  search: Pick<SearchEngine, 'writeFullText' | 'countTerms'>
  /** Migrated to the newest schema. */
  platform: Kysely<PlatformTables>
  /** Lists the agents whose databases exist, including those that the platform does not know. */
  storedAgents(): Promise<string[]>
  /** File of the generated encryption key; undefined if it is not part of the data. */
  keyFile: string | undefined
  openWakeUps(): Promise<ByLane<Pick<WakeUps, 'pull' | 'stop'>>>
  /** @throws Error if a service might have used this data since it was opened. */
  requireUntouched(): Promise<void>
  /** The variables of a service that uses this data. */
  startWith: string
  close(): Promise<void>
}
