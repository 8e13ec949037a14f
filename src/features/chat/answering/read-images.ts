import { type ImagePart, imagePart } from '#models/language-model/images.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { Attachment } from '../chat.schema.ts'
import { imageCharacters, promptCharacters } from '../turn/context-budget.ts'

/** Max bytes of the images in one prompt: providers accept requests of 20 MB and more, in which images are a third longer. */
const maxBytes = 10 * 1024 * 1024
const maxImages = 20

interface Message {
  metadata?: { attachments?: readonly Attachment[] }
}

/** Returns the newest images of these messages that fit into a prompt, the oldest first, by their ids. */
export async function readImages(
  { files }: Pick<AgentHandle, 'files'>,
  messages: readonly Message[],
  contextWindow: number,
): Promise<ReadonlyMap<string, ImagePart>> {
  const images = new Map<string, ImagePart>()
  const most = Math.min(maxImages, Math.floor(promptCharacters(contextWindow) / imageCharacters))
  let room = maxBytes
  const sent = messages.flatMap(({ metadata }) => metadata?.attachments ?? [])
  for (const { id, name, mime_type, size } of sent.filter(({ kind }) => kind === 'image').reverse()) {
    room -= size
    if (images.size === most || room < 0) break
    const bytes = Buffer.concat(
      await Array.fromAsync(files.read(id, { start: 0, end: size })).catch(() => []),
    )
    // A deleted image is not shown.
    if (bytes.length === size) images.set(id, imagePart(name, mime_type, bytes.toString('base64')))
  }
  return images
}
