/** A table as an operator would make it, and statements over HTTP. */
import { sql } from 'kysely'
import type { StatementResult } from '#features/sql/sql.schema.ts'
import type { Answer, TestApp } from './build-app.ts'

interface ErrorBody {
  error: { code: string; message: string; details: { field?: string; issue?: string } }
}

/** Makes the table `fruits` with three rows in the database of `default`. */
export async function makeFruits(app: TestApp): Promise<void> {
  await app.service.infrastructure.agentDatabases.use('default', async ({ db }) => {
    await sql`create table fruits (id integer primary key, name text not null unique, price double precision)`.execute(
      db,
    )
    await sql`insert into fruits (id, name, price) values (1, 'apple', 0.5), (2, 'banana', 0.25), (3, 'cherry', null)`.execute(
      db,
    )
  })
}

/** The beginning of a query on the numbers from 1 to this one, as the column `i` of `n`. */
export function numbers(count: number): string {
  return `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`
}

export function execute(
  app: TestApp,
  query: string,
  params?: unknown[],
  agentId = 'default',
): Promise<Answer<StatementResult & ErrorBody>> {
  return app.call('POST', `/api/agents/${agentId}/sql/execute`, {
    body: { query, ...(params && { params }) },
  })
}
