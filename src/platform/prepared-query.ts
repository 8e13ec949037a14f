import type { Compilable, CompiledQuery, Kysely } from 'kysely'

/** A placeholder in a query's text for a value that is known only when it runs. */
class Placeholder {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** Returns a placeholder for the value of that name, of any type. */
export type ValueOf<Name extends string> = <Type = string>(name: Name) => Type

/**
 * Prepares a query whose text is built once per engine, for the few queries of every request: building one
 * costs several times as much as running it. `build` gets a function that returns placeholders.
 */
export function prepareQuery<Database, Row, Name extends string>(
  build: (database: Kysely<Database>, value: ValueOf<Name>) => Compilable<Row>,
): (database: Kysely<Database>, values: Record<Name, unknown>) => Promise<Row[]> {
  const byEngine = new WeakMap<object, CompiledQuery<Row>>()

  function compiledFor(database: Kysely<Database>): CompiledQuery<Row> {
    const { adapter } = database.getExecutor()
    // Kysely treats the placeholder as a value; it is replaced before the engine sees it.
    const compiled =
      byEngine.get(adapter) ??
      build(database, <Type>(name: Name) => new Placeholder(name) as unknown as Type).compile()
    byEngine.set(adapter, compiled)
    return compiled
  }

  return async (database, values) => {
    const compiled = compiledFor(database)
    const named: Record<string, unknown> = values
    const parameters = compiled.parameters.map(parameter =>
      parameter instanceof Placeholder ? named[parameter.name] : parameter,
    )
    const query: PreparedQuery<Row> = { ...compiled, parameters, placeholders: compiled.parameters }
    return (await database.executeQuery<Row>(query)).rows
  }
}

interface PreparedQuery<Row> extends CompiledQuery<Row> {
  /** The parameters before their placeholders were replaced. */
  placeholders?: readonly unknown[]
}

/** Returns the value with which a value of a query's nodes was executed. */
export function valueIn({ parameters, placeholders }: PreparedQuery<unknown>, value: unknown): unknown {
  return value instanceof Placeholder ? parameters[placeholders?.indexOf(value) ?? -1] : value
}
