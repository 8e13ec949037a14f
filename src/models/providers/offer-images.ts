import { LRUCache } from 'lru-cache'
import { systemClock } from '#platform/clock.ts'
import { isImage, withoutImages } from '../language-model/images.ts'
import type { CallOptions, LanguageModel, StreamPart } from '../language-model/language-model.ts'
import { handOver } from '../transport/call-with-retry.ts'
import { takesNoImages } from '../transport/model-error.ts'

type Model = Pick<LanguageModel, 'doStream'>

/** Time that a refusal is remembered (ms): servers restart with other models. */
const rememberedMs = 10 * 60_000

/** Models that refused images, by server. */
const refusals = new LRUCache<string, true>({ max: 500, ttl: rememberedMs, perf: systemClock })

/**
 * Returns a model that tolerates a refusal of images: images of earlier messages are replaced by their names.
 * A refusal of the last message's images is an error because the question is about them.
 */
export function offeringImages(
  model: Model,
  { baseUrl, modelId }: { baseUrl: string; modelId: string },
): Model {
  const key = JSON.stringify([baseUrl, modelId])

  async function answer(options: CallOptions, take: (part: StreamPart) => void): Promise<void> {
    const { stream } = await model.doStream(options)
    await handOver(stream, part => {
      if (part.type === 'error' && takesNoImages(part.error)) throw part.error
      take(part)
    })
  }

  async function answerTo(options: CallOptions, take: (part: StreamPart) => void): Promise<void> {
    const last = options.prompt.findLastIndex(({ role }) => role === 'user')
    const isAbout = (index: number) => options.prompt[index]?.role === 'user' && hasImage(options, index)
    const named = { ...options, prompt: withoutImages(options.prompt) }
    if (!isAbout(last) && refusals.has(key)) return await answer(named, take)
    try {
      await answer(options, take)
    } catch (error) {
      if (!takesNoImages(error)) throw error
      refusals.set(key, true)
      if (isAbout(last)) throw error
      await answer(named, take)
    }
  }

  return {
    async doStream(options) {
      const hasImages = options.prompt.some((_, index) => hasImage(options, index))
      return hasImages ? { stream: take => answerTo(options, take) } : model.doStream(options)
    },
  }
}

function hasImage({ prompt }: CallOptions, index: number): boolean {
  const message = prompt[index]
  return message?.role === 'user' && message.content.some(isImage)
}
