/** Several processes of the service on one database, when an agent's embedding model changes. */
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { embedBy, startEmbeddingServer, untilReady, uploadChunks } from '../support/embedding-server.ts'
import { startReplicas } from '../support/replica-set.ts'

it('one of them embeds the sources anew, and another one goes on if it dies', async () => {
  await using provider = await startEmbeddingServer(60)
  await using replicas = await startReplicas(2, { ...provider.environment, LEASE_SECONDS: '5' })
  for (const name of ['first', 'second', 'third']) await uploadChunks(replicas.any(), name, 200)
  await untilReady(replicas.at(0), 3)

  await Promise.all([embedBy(replicas.at(0), 'm'), embedBy(replicas.at(1), 'm')])
  await untilReady(replicas.at(0), 3)
  expect(provider.textsOf('m')).toHaveLength(600)
  expect(new Set(provider.textsOf('m')).size).toBe(600)

  await embedBy(replicas.at(0), 'other')
  await delay(200)
  await replicas.at(0).kill()
  await untilReady(replicas.at(1), 3)
  const texts = provider.textsOf('other')
  expect(new Set(texts).size).toBe(600)
  expect(texts.length).toBeLessThanOrEqual(600 + 192)
})
