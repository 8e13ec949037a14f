import type { Static } from 'typebox'
import { Type } from 'typebox'
import { matches } from '#platform/schema-check.ts'
import { parseJsonColumn } from '#storage/json-column.ts'
import type { AgentDatabase as Database } from '#storage/tables.ts'

const textOrNull = Type.Union([Type.String(), Type.Null()])

/** Validators of an answer, to find out next time whether it is still valid. */
const validatorsSchema = Type.Object({
  etag: textOrNull,
  lastModified: textOrNull,
  /** Where it came from, after redirects: they mean nothing for another address. */
  url: Type.String(),
})
export type Validators = Static<typeof validatorsSchema>

/** Identifies the content that is visible; there only while that is known. */
const lastCopySchema = Type.Object({
  /** SHA-256 of what was fetched, in hex. */
  hash: Type.String(),
  /** Null for what is no answer of a server. */
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

/** To be called before what is shown may change. */
export async function forgetLastCopy(database: Database, sourceId: string): Promise<void> {
  await database.updateTable('sources').set({ last_copy: null }).where('id', '=', sourceId).execute()
}
