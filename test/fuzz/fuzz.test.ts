/**
 * Asks the service whatever its own document says that it can be asked, rightly and wrongly, with ids that it learns from the
 * answers. Each answer has to be one that the document describes.
 */
import { expect, it } from 'vitest'
import { testApp } from '../support/build-app.ts'
import { isFullEndurance } from '../support/endurance.ts'
import { type Document, describe, type Operation } from '../support/fuzz/description.ts'
import { faultOf } from '../support/fuzz/judge.ts'
import { createKnownIds } from '../support/fuzz/known-ids.ts'
import { requestFor } from '../support/fuzz/requests.ts'
import { startSurroundings } from '../support/fuzz/surroundings.ts'
import { seededRandom } from '../support/random.ts'

const requests = isFullEndurance ? 100_000 : 1_500
/** Another one may be named, to try something else. */
const seed = Number(process.env.FUZZ_SEED ?? 21)
/** Of the operations, those that must have succeeded. */
const succeeding = 50

/** What deletes comes rarely, or nothing would be left to ask about. */
function weightOf({ method, path }: Operation): number {
  if (method !== 'DELETE') return 10
  return path.endsWith('/{id}') ? 1 : 4
}

/** The model server here speaks for one provider only, so that jobs of agents that have chosen another one may fail. */
function isDefect(line: string): boolean {
  const { level, lastError = '' } = JSON.parse(line)
  return level >= 50 && !/^The model provider "(?:anthropic|google|openai)" /.test(lastError)
}

it(`${requests} requests get answers as described, with the seed ${seed}`, async () => {
  const random = seededRandom(seed)
  const { urls, environment } = await startSurroundings(random)
  const app = await testApp({ environment })
  const description = describe((await app.call<Document>('GET', '/openapi.json')).body)
  const known = createKnownIds(random)
  const material = { random, description, urls, idFor: () => undefined }
  const lots = description.operations
    // A stream of changes has no end.
    .filter(({ operationId }) => operationId !== 'followChanges')
    .flatMap(operation => Array<Operation>(weightOf(operation)).fill(operation))
  const succeeded = new Set<string>()
  const faults = new Map<string, string>()
  for (let n = 0; n < requests; n += 1) {
    const operation = random.pick(lots)
    const { path, agentId, options } = await requestFor(material, known, operation)
    const answer = await app.call(operation.method, path, options)
    const fault = faultOf(description, operation, answer)
    const sent = `${n}: ${operation.method} ${path} ${String(options.payload).slice(0, 500)}`
    const told = `${answer.status} ${JSON.stringify(answer.body).slice(0, 500)}`
    if (fault !== undefined) faults.set(`${operation.operationId}: ${fault}`, `${sent} → ${told}`)
    if (answer.status >= 300) continue
    succeeded.add(operation.operationId)
    known.learn(operation.path, agentId, answer.body)
  }
  expect([...faults]).toEqual([])
  await app.service.infrastructure.runner.idle()
  const missed = description.operations.map(({ operationId }) => operationId).filter(id => !succeeded.has(id))
  expect(succeeded.size, `without a success: ${missed.join(', ')}`).toBeGreaterThanOrEqual(succeeding)
  expect(app.logged.filter(isDefect)).toEqual([])
  expect((await app.call('GET', '/readyz')).status).toBe(200)
})
