import type { PromptMessage } from './language-model.ts'

type UserPart = Extract<PromptMessage, { role: 'user' }>['content'][number]
export type ImagePart = Extract<UserPart, { type: 'file' }>

/** The token count of an image of any size. */
export const imageTokens = 1600

export function imagePart(name: string, mediaType: string, base64: string): ImagePart {
  return { type: 'file', filename: name, mediaType, data: { type: 'data', data: base64 } }
}

export function isImage(part: UserPart): part is ImagePart {
  return part.type === 'file'
}

/** Returns the text in place of an image that is not shown. */
export function nameOfImage(name = 'image'): string {
  return `[image: ${name}]`
}

/** Returns the prompt with names in place of its first images; `count` defaults to all. */
export function withoutImages(
  prompt: readonly PromptMessage[],
  count = Number.POSITIVE_INFINITY,
): PromptMessage[] {
  let left = count
  return prompt.map(message => {
    if (message.role !== 'user' || left <= 0 || !message.content.some(isImage)) return message
    const content = message.content.map(part => {
      if (!isImage(part) || left <= 0) return part
      left -= 1
      return { type: 'text' as const, text: nameOfImage(part.filename) }
    })
    return { ...message, content }
  })
}

export function countImages(prompt: readonly PromptMessage[]): number {
  return prompt.reduce(
    (sum, message) => (message.role === 'user' ? sum + message.content.filter(isImage).length : sum),
    0,
  )
}
