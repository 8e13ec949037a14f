import type { LanguageModel } from '../language-model/language-model.ts'
import type { Endpoint } from '../providers/provider.ts'
import { answerStream } from './answer-stream.ts'
import { post } from './post.ts'
import { requestBody } from './request-body.ts'

/** A model behind OpenAI's chat completions, as the many servers compatible with them speak it. */
export function chatCompletionsModel(modelId: string, endpoint: Endpoint): Pick<LanguageModel, 'doStream'> {
  return {
    async doStream(options) {
      const content = requestBody(modelId, options)
      const question = { content, accept: 'text/event-stream', signal: options.abortSignal } as const
      return { stream: answerStream(await post(endpoint, '/chat/completions', question)) }
    },
  }
}
