import { withoutTools } from '../language-model/alternating.ts'
import type { CallOptions, LanguageModel, Parts, StreamPart } from '../language-model/language-model.ts'
import type { Endpoint } from '../providers/provider.ts'
import { refusesTools } from '../transport/model-error.ts'
import { answerStream } from './answer-stream.ts'
import { habitsOf } from './model-habits.ts'
import { post } from './post.ts'
import { metadataKey, requestBody } from './request-body.ts'

/** A model behind OpenAI's chat completions, as the many servers compatible with them speak it. */
export function chatCompletionsModel(modelId: string, endpoint: Endpoint): Pick<LanguageModel, 'doStream'> {
  const habits = habitsOf(modelId, endpoint)

  async function open(options: CallOptions): Promise<Parts<StreamPart>> {
    const content = requestBody(modelId, options)
    const question = { content, accept: 'text/event-stream', signal: options.abortSignal } as const
    return answerStream(await post(endpoint, '/chat/completions', question), {
      tools: options.tools?.map(({ name }) => name) ?? [],
      mayBeEmpty: options.prompt.at(-1)?.role === 'tool',
      holdsText: habits.closesUnopened(),
      onUnopenedThoughts: habits.closedUnopened,
    })
  }

  async function openWithoutTools({ tools: _tools, toolChoice: _choice, ...options }: CallOptions) {
    return toolsUnsupported(await open({ ...options, prompt: withoutTools(options.prompt) }))
  }

  return {
    async doStream(options) {
      if (options.tools === undefined || options.tools.length === 0) return { stream: await open(options) }
      if (habits.takesNoTools()) return { stream: await openWithoutTools(options) }
      const stream = await open(options).catch((error: unknown) => {
        if (!refusesTools(error)) throw error
        return failing(error)
      })
      return {
        async stream(take) {
          let hasBegun = false
          let isRefused = false
          await stream(part => {
            isRefused = !hasBegun && part.type === 'error' && refusesTools(part.error)
            hasBegun = true
            if (!isRefused) take(part)
          })
          if (!isRefused) return
          habits.refusedTools()
          await (await openWithoutTools(options))(take)
        },
      }
    },
  }
}

function failing(error: unknown): Parts<StreamPart> {
  return async take => take({ type: 'error', error })
}

/** Says with the answer's last part that it was given without tools. */
function toolsUnsupported(stream: Parts<StreamPart>): Parts<StreamPart> {
  const providerMetadata = { [metadataKey]: { toolsUnsupported: true } }
  return take => stream(part => take(part.type === 'finish' ? { ...part, providerMetadata } : part))
}
