import { variables } from '#configuration/configuration.ts'

/** The environment variables that the service reads, with their defaults. */
export function declaredVariables(): [name: string, value: string][] {
  return Object.entries(variables).map(([name, schema]) => [
    name,
    String((schema as { default?: unknown }).default ?? 'unset'),
  ])
}
