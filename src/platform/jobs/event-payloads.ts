import { type Static, type TObject, type TProperties, Type } from 'typebox'

/**
 * Declares the payload of an event: the same for webhooks and triggers, in snake_case. It holds ids and
 * facts, but no texts of people, which stay in the agent's database.
 * @param summary when the event happens.
 * @param fields beside `agent_id`.
 */
export function eventOf<Fields extends TProperties>(summary: string, fields: Fields) {
  return Type.Object({ agent_id: Type.String(), ...fields }, { description: summary })
}

/** The payloads of declared events, by their names. */
export type PayloadsOf<Declared extends Readonly<Record<string, TObject>>> = {
  [Name in keyof Declared]: Static<Declared[Name]>
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}

/** Returns the declared names of a payload that an earlier version stored in camelCase. */
export function inSnakeCase(payload: unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(payload ?? {}).map(([name, value]) => [snakeCase(name), value]))
}
