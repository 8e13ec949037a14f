import type { RawBuilder } from 'kysely'
import { inTransaction } from '#platform/transactions/transaction.ts'
import { waitingHolder } from '../tables/chat.ts'
import type { CopiedTable } from '../tables/table-set.ts'
import type { Catalogue } from './catalogue.ts'
import { createDigest, type Part, type Row } from './digest.ts'
import { readPages } from './pages.ts'
import type { AnyDatabase } from './storage-end.ts'

/** A table of one database, with a selection of its rows. */
export interface TableRows {
  db: AnyDatabase
  catalogue: Catalogue
  table: string
  plan: CopiedTable
  where?: RawBuilder<unknown> | undefined
}

/** Changes a row of the source for the copy. */
export type Change = (row: Row) => Row

/**
 * Removes the leases of processes, which know nothing of the copy, and characters that the target cannot
 * store. Waiting turns, which no process holds, wait in the copy, too.
 */
function changeFor(plan: CopiedTable, target: Pick<Catalogue, 'storesNul'>): Change {
  const released = Object.fromEntries((plan.released ?? []).map(column => [column, null]))
  const store = target.storesNul ? (row: Row) => row : withoutNul
  return row => store(row.lock_holder === waitingHolder ? row : { ...row, ...released })
}

function withoutNul(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      // One character for one, so that offsets into the text stay correct.
      typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value,
    ]),
  )
}

/** Reads rows and returns their digest; `onPage` gets each page of them, as changed. */
export async function readRows(
  { db, catalogue, table, plan, where }: TableRows,
  change: Change = row => row,
  onPage: (rows: Row[]) => Promise<void> = async () => {},
): Promise<Part> {
  const columns = await catalogue.columns(db, table)
  const digest = createDigest(table)
  for await (const page of readPages(db, { table, columns, key: plan.key, where })) {
    const rows = page.map(change)
    for (const row of rows) digest.add(row)
    await onPage(rows)
  }
  digest.note({ last: await lastNumber({ db, catalogue, table, plan }) })
  return digest.part()
}

/**
 * Writes the changed rows, and makes the table's numbering continue as in the source; `onRows` gets their
 * number.
 */
export async function copyRows(
  source: TableRows,
  target: Pick<TableRows, 'db' | 'catalogue'>,
  onRows: (count: number) => void,
): Promise<Part> {
  const { table, plan } = source
  await requireSameColumns(source, target)
  const part = await readRows(source, changeFor(plan, target.catalogue), async rows => {
    await inTransaction(target.db, async transaction => {
      await transaction.insertInto(table).values(rows).execute()
    })
    onRows(rows.length)
  })
  if (plan.numbered !== undefined)
    await target.catalogue.setLastNumber(target.db, table, plan.numbered, await lastNumber(source))
  return part
}

async function lastNumber({ db, catalogue, table, plan }: TableRows): Promise<number> {
  return plan.numbered === undefined ? 0 : await catalogue.lastNumber(db, table, plan.numbered)
}

async function requireSameColumns(
  source: TableRows,
  target: Pick<TableRows, 'db' | 'catalogue'>,
): Promise<void> {
  const { table } = source
  const columns = await source.catalogue.columns(source.db, table)
  const others = await target.catalogue.columns(target.db, table)
  if (columns.toSorted().join() !== others.toSorted().join())
    throw new Error(`table ${table} has other columns in the copy: ${others.join(', ')}`)
}
