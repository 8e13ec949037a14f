import { sql } from 'kysely'

/**
 * True for a row of `pg_class` in this connection's schema. That catalogue holds the tables of all agents and
 * has no index by schema alone, so a condition on `relnamespace` reads them all; `pg_depend` has one. With
 * the name of a table, too, `relnamespace` is all right.
 */
export const isOwnRelation = sql<boolean>`pg_class.oid in (
  select objid from pg_depend where refclassid = 'pg_namespace'::regclass
    and refobjid = current_schema()::regnamespace and classid = 'pg_class'::regclass
)`
