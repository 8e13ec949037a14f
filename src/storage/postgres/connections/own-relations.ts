import { sql } from 'kysely'

/**
 * Whether a row of `pg_class` belongs to this connection's schema. That catalogue holds the tables of all agents and has
 * no index by schema alone, so that a condition on `relnamespace` reads them all; what depends on a schema has one. Where
 * the name of a table is given as well, `relnamespace` is all right.
 */
export const isOwnRelation = sql<boolean>`pg_class.oid in (
  select objid from pg_depend where refclassid = 'pg_namespace'::regclass
    and refobjid = current_schema()::regnamespace and classid = 'pg_class'::regclass
)`
