import type { Compilable, CompiledQuery, Kysely } from 'kysely'

/** Stands in a query's text for a value that is known only when it runs. */
class Placeholder {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** Stands in for the value of that name, whatever its type. */
export type ValueOf<Name extends string> = <Type = string>(name: Name) => Type

/**
 * A query whose text is built once, for the few that run with every request: building costs several times what running
 * does. `build` gets a function that stands in for each value.
 */
export function prepareQuery<Database, Row, Name extends string>(
  build: (database: Kysely<Database>, value: ValueOf<Name>) => Compilable<Row>,
): (database: Kysely<Database>, values: Record<Name, unknown>) => Promise<Row[]> {
  let compiled: CompiledQuery<Row> | undefined
  return async (database, values) => {
    // The engine takes the placeholder for the text that it stands for; it is replaced before the engine sees it.
    compiled ??= build(database, <Type>(name: Name) => new Placeholder(name) as Type).compile()
    const named: Record<string, unknown> = values
    const parameters = compiled.parameters.map(parameter =>
      parameter instanceof Placeholder ? named[parameter.name] : parameter,
    )
    const { rows } = await database.executeQuery<Row>({ ...compiled, parameters })
    return rows
  }
}
