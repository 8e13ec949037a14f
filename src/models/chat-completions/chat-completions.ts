import type { CallOptions, LanguageModel, Parts, StreamPart } from '../language-model/language-model.ts'
import type { Endpoint } from '../providers/provider.ts'
import { answerStream } from './answer-stream.ts'
import { habitsOf } from './model-habits.ts'
import { post } from './post.ts'
import { requestBody } from './request-body.ts'

/** A model behind OpenAI's chat completions, as the many compatible servers implement them. */
export function chatCompletionsModel(modelId: string, endpoint: Endpoint): Pick<LanguageModel, 'doStream'> {
  const habits = habitsOf(modelId, endpoint)

  async function open(options: CallOptions): Promise<Parts<StreamPart>> {
    const answer = await post(endpoint, '/chat/completions', {
      content: requestBody(modelId, options),
      accept: 'text/event-stream',
      signal: options.abortSignal,
    })
    return answerStream(answer, {
      tools: options.tools?.map(({ name }) => name) ?? [],
      mayBeEmpty: options.prompt.at(-1)?.role === 'tool',
      holdsText: habits.closesUnopened(),
      onUnopenedThoughts: habits.closedUnopened,
    })
  }

  return { doStream: async options => ({ stream: await open(options) }) }
}
