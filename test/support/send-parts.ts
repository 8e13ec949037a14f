import type { Part } from '#features/channels/outgoing/send-parts.ts'

/** Sends every part, in order; their ids. */
export async function sendParts(parts: readonly Part[]): Promise<string[]> {
  const ids: string[] = []
  for (const send of parts) ids.push(await send())
  return ids
}
