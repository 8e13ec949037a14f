import { AppError } from '#platform/errors.ts'
import { WorkerCrashed, type WorkerPool, WorkerTimeout } from '#platform/workers/worker-pool.ts'
import { requireNumbers, type TextEmbeddingModel } from '../embeddings.ts'
import type { Answer, EmbedTask } from './local-embedding.worker.ts'

export interface LocalEmbeddings {
  /** Returns the operator's model. Throws MODEL_NOT_CONFIGURED with the operator's next step. */
  model(): Promise<TextEmbeddingModel>
}

interface Dependencies {
  /** The pool for the thread that has loaded the model. */
  workers: WorkerPool
  folder: string
}

const file = new URL('./local-embedding.worker.ts', import.meta.url)
/** Number of texts per task: few, so that a question waits only briefly while documents are embedded. */
const textsPerTask = 16
/** Long enough to load the largest models, or for a task on the slowest machines. */
const timeoutMs = 180_000

/** Runs the operator's model in a thread. All agents share it because none may name a folder. */
export function createLocalEmbeddings({ workers, folder }: Dependencies): LocalEmbeddings {
  let identified: Promise<string> | undefined

  async function run<Value>(name: string, argument: unknown): Promise<Value> {
    const answer = await workers.run<Answer<Value>>({ file, name, argument, timeoutMs }).catch(error => {
      throw error instanceof AppError
        ? error
        : new AppError('MODEL_ERROR', failureOf(error), { cause: error })
    })
    if ('problem' in answer) throw new AppError('MODEL_NOT_CONFIGURED', answer.problem)
    return answer.value
  }

  /** Reads the model's id. Failures are not cached: the cause might be fixed by the next call. */
  function identify(): Promise<string> {
    identified ??= run<string>('identify', folder).catch(error => {
      identified = undefined
      throw error
    })
    return identified
  }

  async function embedSome(id: string, texts: readonly string[], purpose: 'document' | 'query') {
    const argument: EmbedTask = { folder, id, texts, purpose }
    const vectors = await run<Float32Array[] | undefined>('embed', argument)
    if (vectors !== undefined) {
      requireNumbers(vectors, 'The local embedding model')
      return vectors
    }
    identified = undefined
    throw new AppError('MODEL_ERROR', 'The local embedding model was replaced by another one; try again.')
  }

  return {
    async model() {
      const id = await identify()
      return {
        provider: 'local',
        id,
        async embed(texts, { signal, purpose }) {
          const vectors: Float32Array[] = []
          for (let start = 0; start < texts.length; start += textsPerTask) {
            // The thread is not notified: only its end would stop its work, and the model would have to be
            // loaded again.
            signal?.throwIfAborted()
            vectors.push(...(await embedSome(id, texts.slice(start, start + textsPerTask), purpose)))
          }
          return vectors
        },
      }
    },
  }
}

function failureOf(error: unknown): string {
  if (error instanceof WorkerTimeout) return 'The local embedding model takes too long.'
  if (error instanceof WorkerCrashed) return 'The local embedding model takes too much memory.'
  return 'The local embedding model failed; the log of the server tells more.'
}
