import { queryDatabase } from './databases.ts'

/** Adds schemas with the tables and indexes of another, without rows: what many agents are to the server's catalogues. */
export async function addSchemas(url: string, like: string, count: number): Promise<void> {
  // Committed one by one: a transaction can hold the locks of some thousand tables only.
  await queryDatabase(
    url,
    `do $$ declare name text; begin
      for number in 1..${count} loop
        execute format('create schema %I', '${like}_' || number);
        for name in select tablename from pg_tables where schemaname = '${like}' loop
          execute format('create table %I.%I (like %I.%I including all)', '${like}_' || number, name, '${like}', name);
        end loop;
        commit;
      end loop;
    end $$`,
  )
}
