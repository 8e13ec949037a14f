import type { EmbeddingModelV4 } from '@ai-sdk/provider'
import { type Static, Type } from 'typebox'
import { matches } from '#platform/schema-check.ts'
import type { Endpoint } from '../providers/provider.ts'
import { type Body, beginningOf } from '../transport/body.ts'
import { brokenConnection, UnreadableAnswer } from './call-failure.ts'
import { post } from './post.ts'

const entrySchema = Type.Object({
  embedding: Type.Array(Type.Number()),
  index: Type.Optional(
    Type.Unknown({ description: 'Place of its text in the question, where it is a number.' }),
  ),
})
const answerSchema = Type.Object({ data: Type.Array(entrySchema) })

/** An embedding model of a server that is compatible with OpenAI's. */
export function embeddingsModel(modelId: string, endpoint: Endpoint): Pick<EmbeddingModelV4, 'doEmbed'> {
  return {
    async doEmbed({ values, abortSignal }) {
      const content = { model: modelId, input: values, encoding_format: 'float' }
      const question = { content, accept: 'application/json', signal: abortSignal } as const
      const reply = await post(endpoint, '/embeddings', question)
      const bytes = await bytesWithin(reply.body, maxBytesOf(values.length)).catch(error => {
        throw error instanceof UnreadableAnswer ? error : brokenConnection(error, reply.status)
      })
      const answer = parsed(bytes)
      if (!matches(answerSchema, answer)) throw new UnreadableAnswer('The answer holds no vectors.')
      return { embeddings: inOrder(answer.data).map(({ embedding }) => embedding), warnings: [] }
    },
  }
}

/**
 * Sorts vectors by their texts: servers that process several at a time can answer in another order. Some send
 * no index, or always 0.
 */
function inOrder(data: readonly Static<typeof entrySchema>[]) {
  const places = new Set(data.map(({ index }) => index))
  const isNumbered = data.every((_, place) => places.has(place))
  return isNumbered ? data.toSorted((one, other) => Number(one.index) - Number(other.index)) : data
}

/**
 * Max size of an answer in bytes: for each text a vector of sixteen thousand decimal numbers, with some
 * overhead.
 */
function maxBytesOf(texts: number): number {
  return 64 * 1024 + texts * 512 * 1024
}

async function bytesWithin(body: Body, maxBytes: number): Promise<Uint8Array> {
  const { bytes, isWhole } = await beginningOf(body, maxBytes)
  if (!isWhole) throw new UnreadableAnswer(`The answer has more than ${maxBytes} bytes.`)
  return bytes
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch (error) {
    throw new UnreadableAnswer('The answer is not JSON.', error)
  }
}
