import type { AgentDatabase as Database } from '#storage/tables.ts'
import type { ToolCredential } from './credentials.schema.ts'

/** The way to present a credential to a service: everything about it except its value. */
export type CredentialScheme = Omit<ToolCredential, 'isSet' | 'origins'>

export interface StoredCredential {
  scheme: CredentialScheme
  secretSet: string | null
}

export async function listCredentials(database: Database, cluster: string): Promise<StoredCredential[]> {
  const rows = await database
    .selectFrom('tool_credentials')
    .select(['scheme', 'secret_set'])
    .where('cluster', '=', cluster)
    .orderBy('name')
    .execute()
  return rows.map(({ scheme, secret_set }) => ({ scheme: JSON.parse(scheme), secretSet: secret_set }))
}

/** Stores the way to present credentials; existing values remain. */
export async function putSchemes(
  database: Database,
  cluster: string,
  schemes: readonly CredentialScheme[],
  at: string,
): Promise<void> {
  for (const scheme of schemes)
    await database
      .insertInto('tool_credentials')
      .values({
        cluster,
        name: scheme.name,
        scheme: JSON.stringify(scheme),
        secret_set: null,
        created_at: at,
        updated_at: at,
      })
      .onConflict(conflict =>
        conflict.columns(['cluster', 'name']).doUpdateSet(({ ref }) => ({
          scheme: ref('excluded.scheme'),
          updated_at: ref('excluded.updated_at'),
        })),
      )
      .execute()
}

export async function setSecret(
  database: Database,
  { cluster, name, secretSet, at }: { cluster: string; name: string; secretSet: string | null; at: string },
): Promise<void> {
  await database
    .updateTable('tool_credentials')
    .set({ secret_set: secretSet, updated_at: at })
    .where('cluster', '=', cluster)
    .where('name', '=', name)
    .execute()
}

export async function deleteCredentials(database: Database, cluster: string): Promise<void> {
  await database.deleteFrom('tool_credentials').where('cluster', '=', cluster).execute()
}
