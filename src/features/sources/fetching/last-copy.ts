import { type Static, Type } from 'typebox'
import { matches } from '#platform/schema-check.ts'
import { parseJsonColumn } from '#storage/json-column.ts'
import type { AgentDatabase as Database } from '#storage/tables.ts'

const textOrNull = Type.Union([Type.String(), Type.Null()])

/** The validators of an answer, to check it next time. */
const validatorsSchema = Type.Object({
  etag: textOrNull,
  lastModified: textOrNull,
  /** The address after redirects: validators are meaningless for any other. */
  url: Type.String(),
})
export type Validators = Static<typeof validatorsSchema>

/** The id of the visible content; present only while known. */
const lastCopySchema = Type.Object({
  /** The SHA-256 of the fetched bytes, in hex. */
  hash: Type.String(),
  /** The validators; null if no server answered. */
  validators: Type.Union([validatorsSchema, Type.Null()]),
})
export type LastCopy = Static<typeof lastCopySchema>

/** The hidden state of a fetched source between two fetches. */
export interface FetchState {
  lastCopy: LastCopy | undefined
  secretSet: string | null
}

export async function findFetchState(database: Database, sourceId: string): Promise<FetchState> {
  const row = await database
    .selectFrom('sources')
    .select(['last_copy', 'secret_set'])
    .where('id', '=', sourceId)
    .executeTakeFirst()
  const copy = row?.last_copy == null ? undefined : parseJsonColumn<unknown>(row.last_copy, undefined)
  return { lastCopy: matches(lastCopySchema, copy) ? copy : undefined, secretSet: row?.secret_set ?? null }
}

/** Must be called before the visible content can change. */
export async function forgetLastCopy(database: Database, sourceId: string): Promise<void> {
  await database.updateTable('sources').set({ last_copy: null }).where('id', '=', sourceId).execute()
}
