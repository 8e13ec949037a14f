import { type Coerced, coerceArguments } from './coerce-arguments.ts'
import type { Tool } from './tool.ts'

/** The arguments for a call of a tool; `coerced` lists the changes to the model's arguments. */
export interface Accepted extends Coerced {
  problem?: never
}

/** Checks the arguments of a call; invalid ones are coerced if the schema allows only one reading. */
export async function acceptArguments(
  tool: Pick<Tool, 'parameters' | 'check'>,
  given: Record<string, unknown>,
): Promise<Accepted | { problem: string }> {
  const problem = await tool.check(given)
  if (problem === undefined) return { input: given, coerced: [] }
  const { input, coerced } = coerceArguments(tool.parameters, given)
  const isMended = coerced.length > 0 && (await tool.check(input)) === undefined
  return isMended ? { input, coerced } : { problem }
}

/** Returns the note for the model beside the result of its call. */
export function coercionNote(coerced: readonly string[]): string {
  return `The arguments were changed so that they fit: ${coerced.join('; ')}.`
}
