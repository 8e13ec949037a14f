/**
 * The recorded streams of every provider, replayed over HTTP and read back through our port. They live in the folder
 * that the environment variable REAL_FIXTURES names; what each must yield stands beside them in `expected.json`.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { AppError } from '#platform/errors.ts'
import { collect, immediately, question } from '#test/support/collect-answer.ts'
import { startModelServer, type WireForm, wireLines } from '#test/support/model-server.ts'
import { streamWithRetry } from '../transport/call-with-retry.ts'
import type { RemoteProvider } from './provider.ts'
import { remoteLanguageModel } from './providers.ts'

interface Expected {
  text: string
  reasoning?: string
  toolCalls: ExpectedCall[]
  /** Null for a stream that must end in an error. */
  finish: string | null
}

interface ExpectedCall {
  id?: string
  name: string
  /** Concatenated text of the arguments. */
  arguments?: string
  args?: unknown
}

const folder = join(process.env.REAL_FIXTURES ?? '', 'transcripts')

/** Recordings in OpenAI's form come from OpenAI and from servers compatible with it: both adapters must read them. */
const readers: Record<WireForm, RemoteProvider[]> = {
  openai: ['openai', 'openai-compatible'],
  anthropic: ['anthropic'],
  gemini: ['google'],
}

/** Recordings that a provider's package reads otherwise, each with the reason. */
const deviations: Record<string, string> = {
  'openai reads openai/deepseek-tool-call.chunks.txt':
    'reasoning_content is an addition of compatible servers; the package for OpenAI itself leaves it out',
  'openai reads openai/xai-text.chunks.txt':
    'reasoning_content is an addition of compatible servers; the package for OpenAI itself leaves it out',
  'openai reads openai/openai-tool-name-in-later-chunk.sse':
    'only compatible servers send a call before its name; the package for OpenAI itself takes it as a broken answer',
}

/** Arguments that arrive as partialArgs are counted, not spelled out, in expected.json: here they are in words. */
const partialArguments: Record<string, unknown[]> = {
  'gemini/google-stream-tool-call-arguments.chunks.txt': [
    { location: 'Boston' },
    { location: 'San Francisco' },
  ],
}

describe.skipIf(!process.env.REAL_FIXTURES)(
  'recorded streams, replayed over HTTP (needs REAL_FIXTURES)',
  () => {
    const expected: Record<string, Expected> = process.env.REAL_FIXTURES ? readJson('expected.json') : {}
    const rows = Object.keys(expected).flatMap(name =>
      readers[wireFormOf(name)].map(provider => ({ title: `${provider} reads ${name}`, provider, name })),
    )

    test('every recording is replayed, every deviation is one of a recording', () => {
      expect(rows).toHaveLength(40)
      expect(rows.map(row => row.title)).toEqual(expect.arrayContaining(Object.keys(deviations)))
    })

    test.each(rows.filter(({ title }) => deviations[title] === undefined))(
      '$title',
      async ({ provider, name }) => {
        const { text, reasoning = '', toolCalls, finish } = expected[name] as Expected
        const answer = await replay(provider, name)
        expect(answer.text).toBe(text)
        expect(answer.reasoning).toBe(reasoning)
        expect(answer.toolCalls.map(call => call.toolName)).toEqual(toolCalls.map(call => call.name))
        expect(answer.toolCalls.map(argumentsOf)).toEqual(
          partialArguments[name] ?? toolCalls.map(call => call.args ?? parsed(call.arguments ?? '')),
        )
        if (finish === null) expectModelError(answer.error)
        else {
          expect(answer.error).toBeUndefined()
          expect(answer.finish?.raw).toBe(finish)
          expect(answer.finish?.unified).toBe(toolCalls.length > 0 ? 'tool-calls' : 'stop')
        }
      },
    )

    test.each(rows.filter(({ title }) => deviations[title]?.includes('leaves it out')))(
      '$title, without its reasoning',
      async ({ provider, name }) => {
        const { text, toolCalls } = expected[name] as Expected
        const answer = await replay(provider, name)
        expect(answer).toMatchObject({ text, reasoning: '', error: undefined })
        expect(answer.toolCalls.map(call => call.input)).toEqual(toolCalls.map(call => call.arguments))
      },
    )

    test.each(rows.filter(({ title }) => deviations[title]?.includes('broken answer')))(
      '$title, as an error',
      async ({ provider, name }) => expectModelError((await replay(provider, name)).error),
    )

    test.each(
      rows
        .filter(({ name }) => !/ERROR|UNPARSABLE/.test(name))
        .filter(({ title }) => deviations[title] === undefined),
    )('$title: cut in the middle it is an error', async ({ provider, name }) => {
      const pieces = streamOf(name)
        .join('')
        .split(/(?<=\n\r?\n)/)
      const answer = await replay(provider, name, pieces.slice(0, Math.ceil(pieces.length / 2)))
      expectModelError(answer.error)
      expect(expected[name]?.text.startsWith(answer.text)).toBe(true)
    })
  },
)

function expectModelError(error: unknown): void {
  expect(error).toBeInstanceOf(AppError)
  expect(error).toMatchObject({ code: 'MODEL_ERROR', message: expect.stringContaining('model provider') })
}

async function replay(provider: RemoteProvider, name: string, cutTo?: string[]) {
  const stream = cutTo ?? streamOf(name)
  await using server = await startModelServer(() => ({ stream, cut: cutTo !== undefined }))
  const model = await remoteLanguageModel(provider, 'm', { baseUrl: server.url, apiKey: 'secret-key', fetch })
  return await collect(streamWithRetry(model, question('Hello'), immediately))
}

function streamOf(name: string): string[] {
  const content = readFileSync(join(folder, name), 'utf8')
  return name.endsWith('.sse') ? [content] : wireLines(wireFormOf(name), content.split('\n').filter(Boolean))
}

function wireFormOf(name: string): WireForm {
  return name.split('/')[0] as WireForm
}

function argumentsOf({ input }: { input: string }): unknown {
  return parsed(input)
}

/** No arguments are `{}` or nothing at all; arguments that are no JSON stay text. */
function parsed(json: string): unknown {
  if (json === '') return {}
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}

function readJson(name: string) {
  return JSON.parse(readFileSync(join(folder, name), 'utf8'))
}
