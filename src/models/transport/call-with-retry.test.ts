import { APICallError } from '@ai-sdk/provider'
import { describe, expect, test } from 'vitest'
import { AppError } from '#platform/errors.ts'
import { collect, question } from '#test/support/collect-answer.ts'
import { gate, type ScriptedStep, scriptedModel } from '#test/support/scripted-model.ts'
import type { StreamPart } from '../language-model/language-model.ts'
import { callWithRetry, streamWithRetry } from './call-with-retry.ts'

function apiError(statusCode: number, responseHeaders: Record<string, string> = {}) {
  const url = 'https://api.example/v1'
  return new APICallError({
    message: 'upstream',
    url,
    requestBodyValues: { secret: 1 },
    statusCode,
    responseHeaders,
  })
}

const failing = (error: unknown): ScriptedStep => [{ error, before: true }]
const now = Date.UTC(2026, 0, 1)

/** A timing whose waits take no time and are written down. */
function recordedTiming() {
  const delays: number[] = []
  const sleep = async (milliseconds: number) => {
    delays.push(milliseconds)
  }
  return { delays, timing: { clock: { now: () => now }, sleep } }
}

describe('a failed call', () => {
  test.each([408, 409, 429, 500, 503])(
    'with status %i is tried again, twice at most, after growing waits',
    async status => {
      const { delays, timing } = recordedTiming()
      const model = scriptedModel([failing(apiError(status)), failing(apiError(status)), ['Hello']])
      expect(await collect(streamWithRetry(model, question('Hi'), timing))).toMatchObject({
        text: 'Hello',
        error: undefined,
      })
      expect(delays).toEqual([500, 1000])

      const hopeless = scriptedModel([1, 2, 3].map(() => failing(apiError(status))))
      expect((await collect(streamWithRetry(hopeless, question('Hi'), timing))).error).toMatchObject({
        code: 'MODEL_ERROR',
      })
      expect(hopeless.calls).toHaveLength(3)
    },
  )

  test.each([400, 401, 403, 404, 413, 422])('with status %i is not', async status => {
    const { timing } = recordedTiming()
    const model = scriptedModel([failing(apiError(status))])
    expect((await collect(streamWithRetry(model, question('Hi'), timing))).error).toBeInstanceOf(AppError)
    expect(model.calls).toHaveLength(1)
  })

  test('for want of quota is not', async () => {
    const { timing } = recordedTiming()
    const model = scriptedModel([
      failing({ message: 'No credit', code: 'insufficient_quota', type: 'insufficient_quota' }),
    ])
    expect((await collect(streamWithRetry(model, question('Hi'), timing))).error).toMatchObject({
      message: expect.stringContaining('quota is used up'),
    })
    expect(model.calls).toHaveLength(1)
  })

  test.each([
    ['3', 3000],
    ['0.2', 200],
    ['0', 0],
    ['3600', 10_000],
    [new Date(now + 4000).toUTCString(), 4000],
    [new Date(now - 4000).toUTCString(), 0],
    ['soon', 500],
  ])('waits as long as Retry-After asks, ten seconds at most: %s', async (asked, delay) => {
    const { delays, timing } = recordedTiming()
    const model = scriptedModel([failing(apiError(429, { 'retry-after': asked })), ['Hello']])
    await collect(streamWithRetry(model, question('Hi'), timing))
    expect(delays).toEqual([delay])
  })

  test('ends its wait with the signal, and with its reason', async () => {
    const leaving = new AbortController()
    const model = scriptedModel([failing(apiError(429, { 'retry-after': '10' }))])
    const answer = collect(streamWithRetry(model, question('Hi', { abortSignal: leaving.signal })))
    const reason = new Error('gone')
    setImmediate(() => leaving.abort(reason))
    expect((await answer).error).toBe(reason)
    expect(model.calls).toHaveLength(1)
  })
})

describe('a failed stream', () => {
  const { timing } = recordedTiming()

  test('is begun anew before its first part, not after it', async () => {
    const early = scriptedModel([[{ error: apiError(503) }], ['Hello']])
    expect(await collect(streamWithRetry(early, question('Hi'), timing))).toMatchObject({ text: 'Hello' })
    const late = scriptedModel([['Hel', { error: apiError(503) }], ['Hello']])
    expect(await collect(streamWithRetry(late, question('Hi'), timing))).toMatchObject({
      text: 'Hel',
      error: { code: 'MODEL_ERROR' },
    })
  })

  test.each(['interrupted', 'error'] as const)('that finishes as %s is an error', async unified => {
    const model = scriptedModel([['Hel', { finish: unified }]])
    expect(await collect(streamWithRetry(model, question('Hi'), timing))).toMatchObject({
      text: 'Hel',
      finish: undefined,
      error: { code: 'MODEL_ERROR', message: expect.stringContaining('broke off') },
    })
  })

  test.each(['length', 'content-filter', 'other'] as const)(
    'that finishes as %s is an answer',
    async unified => {
      const model = scriptedModel([['Hel', { finish: unified }]])
      expect(await collect(streamWithRetry(model, question('Hi'), timing))).toMatchObject({
        text: 'Hel',
        finish: { unified },
      })
    },
  )

  test('stops with the signal, and is told so in its own words', async () => {
    const leaving = new AbortController()
    const { opened, open } = gate()
    const model = scriptedModel([['Hel', { wait: opened }, 'lo']])
    const seen: string[] = []
    const asked = question('Hi', { abortSignal: leaving.signal })
    const reading = streamWithRetry(
      model,
      asked,
      timing,
    )(part => {
      if (part.type === 'text-delta') seen.push(part.delta)
      leaving.abort(new Error('gone'))
    })
    await expect(reading).rejects.toThrow('gone')
    open()
    expect(seen).toEqual(['Hel'])
  })

  test('is closed when its reader leaves', async () => {
    let cancelled = false
    const stream = new ReadableStream({
      start: controller => controller.enqueue({ type: 'text-delta', id: '0', delta: 'a' }),
      cancel: () => {
        cancelled = true
      },
    })
    const model = { provider: 'p', modelId: 'm', doStream: async () => ({ stream }) }
    const leaving = () => {
      throw new Error('enough')
    }
    await expect(streamWithRetry(model, question('Hi'))(leaving)).rejects.toThrow('enough')
    expect(cancelled).toBe(true)
  })

  test('is not begun anew, nor called a failure of the model, for an error of its reader', async () => {
    const model = scriptedModel([['Hello'], ['Hello']])
    const own = Object.assign(new Error('mine'), { statusCode: 503 })
    const leaving = () => {
      throw own
    }
    await expect(streamWithRetry(model, question('Hi'), timing)(leaving)).rejects.toBe(own)
    expect(model.calls).toHaveLength(1)
  })

  test('is not waited for after its finish', async () => {
    const { opened } = gate()
    const model = scriptedModel([['Hello', { finish: 'stop' }]])
    const { stream } = await model.doStream(question('Hi'))
    async function* lingering() {
      yield* stream as AsyncIterable<StreamPart>
      await opened
    }
    const doStream = async () => ({ stream: lingering() })
    expect(await collect(streamWithRetry({ ...model, doStream }, question('Hi')))).toMatchObject({
      text: 'Hello',
      error: undefined,
    })
  })
})

test('a call in one piece follows the same rules', async () => {
  const { delays, timing } = recordedTiming()
  const outcomes = [apiError(500), apiError(429), 'done']
  const call = async () => {
    const outcome = outcomes.shift()
    if (outcome instanceof Error) throw outcome
    return outcome
  }
  const model = { provider: 'p', modelId: 'm' }
  expect(await callWithRetry(model, call, undefined, timing)).toBe('done')
  expect(delays).toEqual([500, 1000])
  await expect(
    callWithRetry(model, () => Promise.reject(apiError(401)), undefined, timing),
  ).rejects.toMatchObject({
    code: 'MODEL_ERROR',
  })
})
