import { json } from 'node:stream/consumers'
import type { EmbeddingModelV4 } from '@ai-sdk/provider'
import { Type } from 'typebox'
import { matches } from '#platform/schema-check.ts'
import type { Endpoint } from '../provider.ts'
import { brokenConnection, UnreadableAnswer } from './call-failure.ts'
import { post } from './post.ts'

const answerSchema = Type.Object({ data: Type.Array(Type.Object({ embedding: Type.Array(Type.Number()) })) })

/** An embedding model of a server that is compatible with OpenAI's. */
export function embeddingsModel(modelId: string, endpoint: Endpoint): Pick<EmbeddingModelV4, 'doEmbed'> {
  return {
    async doEmbed({ values, abortSignal }) {
      const body = { model: modelId, input: values, encoding_format: 'float' }
      const reply = await post(endpoint, '/embeddings', body, abortSignal)
      const answer = await json(reply.body).catch(error => {
        throw error instanceof SyntaxError
          ? new UnreadableAnswer('The answer is not JSON.', error)
          : brokenConnection(error, reply.status)
      })
      if (!matches(answerSchema, answer)) throw new UnreadableAnswer('The answer holds no vectors.')
      return { embeddings: answer.data.map(({ embedding }) => embedding), warnings: [] }
    },
  }
}
