/** What compatible servers send besides the plain cases, over HTTP from a server that sends it. */
import { describe, expect, test } from 'vitest'
import { collect, immediately, question } from '#test/support/collect-answer.ts'
import { eventually } from '#test/support/eventually.ts'
import {
  openaiChunk,
  openaiText,
  type Reply,
  startModelServer,
  wireForm,
} from '#test/support/model-server.ts'
import { createAnswerMessage } from '../language-model/answer-message.ts'
import type { AnswerPart, CallOptions, PromptMessage, StreamPart } from '../language-model/language-model.ts'
import { remoteLanguageModel } from '../providers/providers.ts'
import { streamWithRetry } from '../transport/call-with-retry.ts'
import { type Send, sendBy } from '../transport/send.ts'
import { sendDirectly } from '../transport/send-directly.ts'
import { chatCompletionsModel } from './chat-completions.ts'

async function askBy(send: Send, reply: Reply, options: CallOptions = question('Hello')) {
  await using server = await startModelServer(() => reply)
  const endpoint = { baseUrl: `${server.url}/v1`, apiKey: undefined, fetch, send }
  const model = await remoteLanguageModel('openai-compatible', 'm-1', endpoint)
  const parts: AnswerPart[] = []
  const answer = await collect(take =>
    streamWithRetry(
      model,
      options,
      immediately,
    )(part => {
      parts.push(part)
      take(part)
    }),
  )
  return { ...answer, parts, requests: server.requests }
}

function streamOf(...chunks: object[]): Reply {
  return { stream: wireForm('openai', chunks) }
}

/** A stream of deltas of tool calls, ended as such. */
function callsOf(...deltas: object[]): Reply {
  const chunks = deltas.map(delta => openaiChunk({ tool_calls: [delta] }))
  return streamOf(...chunks, openaiChunk({}, 'tool_calls'))
}

const ways: [string, Send][] = [
  ['undici', sendDirectly],
  ['fetch', sendBy(fetch)],
]

async function* silence() {
  yield openaiText('Hi')[0] ?? ''
  await new Promise(() => {})
}

describe.each(ways)('by %s', (_way, send) => {
  const ask = (reply: Reply, options?: CallOptions) => askBy(send, reply, options)

  describe('text', () => {
    test('has every delta as a part of its own, between a start and an end, also where they arrive together', async () => {
      const { parts } = await ask({ stream: [openaiText('a', 'b', 'c').join('')] })
      expect(parts.map(part => ('delta' in part ? part.delta : part.type))).toEqual([
        'text-start',
        'a',
        'b',
        'c',
        'text-end',
        'finish',
      ])
    })

    test('survives comments, CRLF, keep-alives and bytes torn apart within a character', async () => {
      const text = openaiText('ü', ' 🐵').join('').replaceAll('\n', '\r\n')
      const bytes = Buffer.from(`: OPENROUTER PROCESSING\r\n\r\n${text}`)
      async function* torn() {
        // Each byte as a piece of its own: the server writes them unchanged.
        for (const byte of bytes) yield Buffer.of(byte) as unknown as string
      }
      expect(await ask({ stream: torn() })).toMatchObject({ text: 'ü 🐵', error: undefined })
    })

    test('may come as a list of parts, thoughts among them', async () => {
      const thinking = [{ type: 'text', text: 'hm' }]
      const thoughts = [
        { type: 'thinking', thinking },
        { type: 'thinking', thinking: ' so' },
      ]
      const texts = [
        { type: 'text', text: 'Yes' },
        ', it',
        { text: ' is' },
        { type: 'output_text', text: '.' },
      ]
      const content = [...thoughts, ...texts, { type: 'other' }, 7]
      const answer = await ask(streamOf(openaiChunk({ content }), openaiChunk({}, 'stop')))
      expect(answer).toMatchObject({ text: 'Yes, it is.', reasoning: 'hm so', error: undefined })
    })

    test('may be repeated beside its deltas, all that was said so far', async () => {
      const said = ['', 'Hel', 'lo'].map((content, at, all) => {
        const message = { role: 'assistant', content: at === 0 ? 'Hel' : all.slice(0, at + 1).join('') }
        return {
          choices: [{ index: 0, delta: { content }, message, finish_reason: at === 2 ? 'stop' : null }],
        }
      })
      expect(await ask(streamOf(...said))).toMatchObject({ text: 'Hello', error: undefined })
    })

    test('is not what is empty, null or of another type', async () => {
      const odd = [{ content: null }, { content: '' }, { refusal: false, content: 3 }, {}].map(delta =>
        openaiChunk(delta),
      )
      const { parts, error } = await ask(streamOf(...odd, openaiChunk({}, 'stop')))
      expect(parts).toEqual([])
      expect(error).toMatchObject({ code: 'MODEL_ERROR', message: expect.stringContaining('empty answer') })
    })
  })

  test.each(['reasoning_content', 'reasoning'])('thoughts in %s end where the text begins', async field => {
    const { parts } = await ask(
      streamOf(
        openaiChunk({ [field]: 'Let me ' }),
        openaiChunk({ [field]: 'see.' }),
        openaiChunk({ content: 'Four.' }),
        openaiChunk({}, 'stop'),
      ),
    )
    expect(parts.map(part => part.type)).toEqual([
      'reasoning-start',
      'reasoning-delta',
      'reasoning-delta',
      'reasoning-end',
      'text-start',
      'text-delta',
      'text-end',
      'finish',
    ])
  })

  describe('the end', () => {
    test.each([
      ['stop', 'stop'],
      ['length', 'length'],
      ['content_filter', 'content-filter'],
      ['function_call', 'tool-calls'],
      ['model_length', 'length'],
      ['max_tokens', 'length'],
      ['MAX_OUTPUT_TOKENS', 'length'],
      ['sensitive', 'content-filter'],
      ['content_filter: RECITATION', 'content-filter'],
      ['PROHIBITED_CONTENT', 'content-filter'],
      ['model_context_window_exceeded', 'length'],
      ['eos', 'other'],
    ])('%s means %s', async (raw, unified) => {
      const { finish } = await ask(streamOf(openaiChunk({ content: 'Hi' }, raw)))
      expect(finish).toEqual({ unified, raw })
    })

    test('brings the usage, which may stand in a chunk without choices', async () => {
      const usage = {
        prompt_tokens: 11,
        completion_tokens: 7,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 2 },
      }
      const ending = [openaiChunk({ content: 'Hi' }, 'stop'), { choices: [], usage }]
      expect((await ask(streamOf(...ending))).parts.at(-1)).toMatchObject({
        usage: {
          inputTokens: { total: 11, noCache: 7, cacheRead: 4 },
          outputTokens: { total: 7, text: 5, reasoning: 2 },
        },
      })
      const bare = await ask(streamOf(openaiChunk({ content: 'Hi' }, 'stop'), { usage }))
      expect(bare).toMatchObject({ text: 'Hi', error: undefined })
      const none = await ask(streamOf(openaiChunk({ content: 'Hi' }, 'stop')))
      expect(none.parts.at(-1)).toMatchObject({ usage: { inputTokens: { total: undefined } } })
    })

    test('need not be followed by [DONE], and nothing after [DONE] is read', async () => {
      const withoutDone = openaiText('Hi').slice(0, -1)
      expect(await ask({ stream: withoutDone })).toMatchObject({ text: 'Hi', error: undefined })
      const more = [...openaiText('Hi'), ...openaiText('more'), 'data: {broken\n\n']
      expect(await ask({ stream: more })).toMatchObject({ text: 'Hi', error: undefined })
    })

    test('is told at [DONE], before the connection ends', async () => {
      const released = Promise.withResolvers<void>()
      async function* lingering() {
        yield openaiText('Hi').join('')
        await released.promise
      }
      const answer = await ask({ stream: lingering() }).finally(released.resolve)
      expect(answer).toMatchObject({ text: 'Hi', error: undefined })
    })
  })

  describe('tool calls', () => {
    const calls = (...expected: [id: unknown, name: string, input: string][]) =>
      expected.map(([toolCallId, toolName, input]) => ({ type: 'tool-call', toolCallId, toolName, input }))
    const some = expect.stringMatching(/^\w{9}$/)
    const begin = (
      index: number | undefined,
      id: string | undefined,
      name: string | undefined,
      input = '',
    ) => ({
      index,
      id,
      type: 'function',
      function: { name, arguments: input },
    })
    const go = (index: number | undefined, input: string, id?: string) => ({
      index,
      id,
      function: { arguments: input },
    })

    test.each<[string, object[], object[]]>([
      [
        'side by side, their arguments interleaved',
        [begin(0, 'a', 'f'), begin(1, 'b', 'g'), go(1, '{"y"'), go(0, '{"x"'), go(0, ':1}'), go(1, ':2}')],
        calls(['a', 'f', '{"x":1}'], ['b', 'g', '{"y":2}']),
      ],
      [
        'out of order',
        [begin(1, 'b', 'g', '{}'), begin(0, 'a', 'f', '{}')],
        calls(['a', 'f', '{}'], ['b', 'g', '{}']),
      ],
      [
        'without index, each whole',
        [begin(undefined, 'a', 'f', '{"x":1}'), begin(undefined, 'b', 'f', '{"x":2}')],
        calls(['a', 'f', '{"x":1}'], ['b', 'f', '{"x":2}']),
      ],
      [
        'without index and id',
        [begin(undefined, undefined, 'f', '{"x"'), go(undefined, ':1}'), begin(undefined, '', 'f', '{}')],
        calls([some, 'f', '{"x":1}'], [some, 'f', '{}']),
      ],
      [
        'all of them at index 0',
        [begin(0, 'a', 'f', '{"x":1}'), begin(0, 'b', 'f', '{"x":2}'), begin(0, 'c', 'g', '{}')],
        calls(['a', 'f', '{"x":1}'], ['b', 'f', '{"x":2}'], ['c', 'g', '{}']),
      ],
      [
        'all of them at index 0 without ids',
        [begin(0, undefined, 'f', '{"x":1}'), begin(0, undefined, 'f', '{"x":2}')],
        calls([some, 'f', '{"x":1}'], [some, 'f', '{"x":2}']),
      ],
      [
        'all of them at index 0 without arguments',
        [begin(0, 'a', 'f'), begin(0, 'b', 'f'), begin(0, 'c', 'f', '{}'), begin(0, 'd', 'f')],
        calls(['a', 'f', ''], ['b', 'f', ''], ['c', 'f', '{}'], ['d', 'f', '']),
      ],
      [
        'with id and name in every delta',
        [begin(0, 'a', 'f', '{"x":'), begin(0, 'a', 'f', '{"y":'), begin(0, 'a', 'f', '1}}')],
        calls(['a', 'f', '{"x":{"y":1}}']),
      ],
      [
        'with another id in every delta',
        [begin(0, 'a', 'f'), go(0, '{"x"', 'b'), go(0, ':1}', 'c')],
        calls(['a', 'f', '{"x":1}']),
      ],
      [
        'with the same id twice, which becomes two',
        [begin(0, 'a', 'f', '{}'), begin(1, 'a', 'g', '{}')],
        calls(['a', 'f', '{}'], [some, 'g', '{}']),
      ],
      [
        'with a name that comes late',
        [begin(0, 'a', undefined), begin(0, 'a', 'f', '{}')],
        calls(['a', 'f', '{}']),
      ],
      [
        'with an empty name later on',
        [begin(0, 'a', 'f', '{'), begin(0, '', '', '}')],
        calls(['a', 'f', '{}']),
      ],
      [
        'with arguments as an object',
        [{ id: 'a', function: { name: 'f', arguments: { x: 1 } } }],
        calls(['a', 'f', '{"x":1}']),
      ],
      [
        'whose arguments come at the next index',
        [begin(0, 'a', 'f', '{"x":1}'), begin(0, 'b', 'f'), go(1, '{"x":2}')],
        calls(['a', 'f', '{"x":1}'], ['b', 'f', '{"x":2}']),
      ],
      [
        'whose arguments come at the next index, in pieces, with an id',
        [begin(0, 'a', 'f', '{"x":1}'), begin(0, 'b', 'g'), go(1, '{"x"', 'b'), go(1, ':2}', 'b')],
        calls(['a', 'f', '{"x":1}'], ['b', 'g', '{"x":2}']),
      ],
      [
        'whose indexes count the deltas',
        [begin(0, 'a', 'f'), go(1, '{"x"'), go(2, ':1}'), begin(3, 'b', 'g'), go(4, '{}')],
        calls(['a', 'f', '{"x":1}'], ['b', 'g', '{}']),
      ],
      [
        'by id, with indexes that all differ',
        [begin(0, 'a', 'f', '{"x"'), begin(1, 'b', 'g', '{"y"'), go(2, ':1}', 'a'), go(3, ':2}', 'b')],
        calls(['a', 'f', '{"x":1}'], ['b', 'g', '{"y":2}']),
      ],
      [
        'repeated as a whole',
        [begin(0, 'a', 'f', '{"x":'), go(0, '1}'), begin(0, 'a', 'f', '{"x":1}')],
        calls(['a', 'f', '{"x":1}']),
      ],
      [
        'whose arguments are repeated as a whole',
        [begin(0, 'a', 'f', '{"x":'), go(0, '1}'), go(0, '{"x":1}'), begin(1, 'b', 'f', '{"x":1}')],
        calls(['a', 'f', '{"x":1}'], ['b', 'f', '{"x":1}']),
      ],
      ...['{}', 'null', '"null"', '""', '"{}"', '{ }'].map((nothing): [string, object[], object[]] => [
        `with ${nothing} before the arguments`,
        [begin(0, 'a', 'f', nothing), go(0, ''), go(0, '{"x"'), go(0, ':1}')],
        calls(['a', 'f', '{"x":1}']),
      ]),
      [
        'with {} before the arguments, and the name again',
        [
          begin(0, 'a', 'f', '{}'),
          begin(0, 'a', 'f', '{"x":1}'),
          begin(1, 'b', 'f', '{'),
          go(1, '}'),
          go(1, '{"x":2}'),
        ],
        calls(['a', 'f', '{"x":1}'], ['b', 'f', '{"x":2}']),
      ],
      ['with {} alone', [begin(0, 'a', 'f', '{}')], calls(['a', 'f', '{}'])],
      ['with an empty list', [{ id: 'a', function: { name: 'f', arguments: [] } }], calls(['a', 'f', '{}'])],
      ['with null alone', [begin(0, 'a', 'f', 'null')], calls(['a', 'f', '{}'])],
      [
        'followed by an empty delta',
        [begin(0, 'a', 'f', '{}'), {}, begin(1, undefined, '')],
        calls(['a', 'f', '{}']),
      ],
    ])('%s', async (_, deltas, expected) => {
      const { toolCalls, finish, error } = await ask(callsOf(...deltas))
      expect(error).toBeUndefined()
      expect(toolCalls).toEqual(expected)
      expect(finish?.unified).toBe('tool-calls')
    })

    const offered = ['search_knowledge', 'getTime', 'a_b', 'a-b'].map(name => ({
      type: 'function' as const,
      name,
      inputSchema: {},
    }))

    test.each([
      ['search_knowledge', 'search_knowledge'],
      [' search_knowledge\n', 'search_knowledge'],
      ['search-knowledge', 'search_knowledge'],
      ['search.knowledge', 'search_knowledge'],
      ['SearchKnowledge', 'search_knowledge'],
      ['SEARCH_KNOWLEDGE', 'search_knowledge'],
      ['get_time', 'getTime'],
      ['a-b', 'a-b'],
      ['a.b', 'a.b'],
      ['search knowledge', 'search knowledge'],
      ['search', 'search'],
    ])('of %j are calls of %j', async (name, meant) => {
      const { toolCalls } = await ask(callsOf(begin(0, 'a', name, '{}')), question('Hi', { tools: offered }))
      expect(toolCalls.map(({ toolName }) => toolName)).toEqual([meant])
    })

    test('may come in a message, or as a function_call', async () => {
      const message = { role: 'assistant', content: 'Well', tool_calls: [begin(0, 'a', 'f', '{"x":1}')] }
      const choices = [{ index: 0, message, finish_reason: 'tool_calls' }]
      const expected = { error: undefined, toolCalls: calls(['a', 'f', '{"x":1}']) }
      expect(await ask(streamOf({ choices }))).toMatchObject({ ...expected, text: 'Well' })
      expect(await ask({ json: { object: 'chat.completion', choices } })).toMatchObject({
        ...expected,
        text: 'Well',
      })
      const former = [{ name: 'f', arguments: '{"x"' }, { arguments: ':1}' }].map(function_call =>
        openaiChunk({ function_call }),
      )
      expect(await ask(streamOf(...former, openaiChunk({}, 'function_call')))).toMatchObject({
        error: undefined,
        toolCalls: calls([some, 'f', '{"x":1}']),
      })
    })

    test('may come without a list, or in both forms', async () => {
      const chunks = [begin(0, '', 'f', '{"x"'), go(0, ':1}')].map(tool_calls => openaiChunk({ tool_calls }))
      const both = openaiChunk({
        tool_calls: [begin(0, 'a', 'f', '{}')],
        function_call: begin(0, '', 'f', '{}').function,
      })
      expect(await ask(streamOf(...chunks, openaiChunk({}, 'tool_calls')))).toMatchObject({
        error: undefined,
        toolCalls: calls([some, 'f', '{"x":1}']),
      })
      expect((await ask(streamOf(both, openaiChunk({}, 'tool_calls')))).toolCalls).toEqual(
        calls(['a', 'f', '{}']),
      )
    })

    test('without a name can not be made', async () => {
      const { toolCalls, error } = await ask(callsOf(go(0, '{}')))
      expect(toolCalls).toEqual([])
      expect(error).toMatchObject({ code: 'MODEL_ERROR', message: expect.stringContaining("can't be read") })
    })

    test('whose arguments have no end are given up', async () => {
      const piece = 'x'.repeat(500_000)
      const { error } = await ask(
        callsOf(begin(0, 'a', 'f'), ...Array.from({ length: 6 }, () => go(0, piece))),
      )
      expect(error).toMatchObject({ code: 'MODEL_ERROR', message: expect.stringContaining("can't be read") })
    })

    const long = 'x'.repeat(500_000)
    const six = Array.from({ length: 6 }, (_, index) => index)

    test.each<[string, object[]]>([
      ['too many', Array.from({ length: 65 }, (_, index) => begin(index, `${index}`, 'f', '{}'))],
      ['without end in their names', six.map(index => begin(index, `${index}`, `${long}${index}`, '{}'))],
      ['without end in their ids', six.map(index => begin(index, `${long}${index}`, 'f', '{}'))],
      [
        'without end in their extra content',
        six.map(index => ({ ...begin(index, `${index}`, 'f', '{}'), extra_content: { long } })),
      ],
    ])('%s are given up, and not asked for again', async (_, deltas) => {
      const { toolCalls, error, requests } = await ask(callsOf(...deltas))
      expect(toolCalls).toEqual([])
      expect(error).toMatchObject({ code: 'MODEL_ERROR', message: expect.stringContaining("can't be read") })
      expect(requests).toHaveLength(1)
    })

    test('bring their extra content back in the next prompt', async () => {
      const extra_content = { google: { thought_signature: 'c2ln' } }
      const { parts } = await ask(callsOf({ ...begin(0, 'a', 'f', '{"x":1}'), extra_content }))
      const message = createAnswerMessage()
      for (const part of parts) message.add(part)
      const prompt = [...question('Hello').prompt, message.message()]
      const { requests } = await ask(streamOf(openaiChunk({}, 'stop')), { prompt })
      expect(requests[0]?.body).toMatchObject({
        messages: [
          { role: 'user' },
          { role: 'assistant', content: null, tool_calls: [{ id: 'a', extra_content }] },
        ],
      })
    })
  })

  describe('an error within the stream', () => {
    const begun = openaiChunk({ content: 'Hi' })

    test.each<[string, object, string]>([
      ['with a type', { error: { message: 'x', type: 'server_error' } }, 'is failing'],
      ['with a status', { error: { message: 'x', code: 429 }, choices: [] }, 'rate limiting'],
      ['as a word', { error: 'overheated' }, 'is failing'],
      ['as an object of its own', { object: 'error', message: 'bad', code: 400 }, 'refused the request'],
      ['in a list', [{ error: { message: 'x', code: 401 } }], 'refused the configured key'],
      ['in its choice', { choices: [{ delta: {}, error: { message: 'x', code: 502 } }] }, 'is failing'],
      ['as its finish reason', openaiChunk({ content: '' }, 'error'), 'is failing'],
      ['as a finish reason of Zhipu', openaiChunk({}, 'network_error'), 'is failing'],
      ['as a finish reason of DeepSeek', openaiChunk({}, 'insufficient_system_resource'), 'is failing'],
      ['with its status outside', { error: 'x', status: 429 }, 'rate limiting'],
      ['as a detail', { detail: 'Rate limit exceeded' }, 'rate limiting'],
      ['in a list of Cloudflare', { success: false, errors: [{ message: 'x', code: 429 }] }, 'rate limiting'],
      [
        'as the base response of MiniMax',
        { choices: null, base_resp: { status_code: 1002, status_msg: 'rate limit' } },
        'rate limiting',
      ],
      ['without an object around it', { message: 'Insufficient credits', code: 402 }, 'credit'],
    ])('%s comes after what was said', async (_, event, words) => {
      const { text, error } = await ask(streamOf(begun, event, begun, openaiChunk({}, 'stop')))
      expect(text).toBe('Hi')
      expect(error).toMatchObject({ code: 'MODEL_ERROR', message: expect.stringContaining(words) })
    })

    test.each<[string, string[]]>([
      ['without anything', wireForm('openai', [begun]).slice(0, 1)],
      ['with null as a word', wireForm('openai', [openaiChunk({ content: 'Hi' }, 'null')]).slice(0, 1)],
      [
        'with a chunk that was cut off',
        [...wireForm('openai', [begun]).slice(0, 1), 'data: {"choices":[{"del'],
      ],
      ['with [DONE], but nothing said', wireForm('openai', [openaiChunk({ role: 'assistant' })])],
    ])('a stream without its finish reason, ended %s, broke off', async (_, stream) => {
      expect((await ask({ stream })).error).toMatchObject({
        code: 'MODEL_ERROR',
        message: expect.stringContaining('broke off'),
      })
    })

    test.each<[string, object[]]>([
      ['text', [begun]],
      ['a finish reason that is null', [begun, openaiChunk({}, null)]],
      ['an empty finish reason', [openaiChunk({ content: 'Hi' }, '')]],
      ['usage alone', [begun, { choices: [], usage: { prompt_tokens: 1 } }]],
    ])('[DONE] ends what was said, after %s', async (_, chunks) => {
      expect(await ask(streamOf(...chunks))).toMatchObject({ text: 'Hi', error: undefined })
    })

    test.each([
      ['an object', '{"hello":1}'],
      ['an empty object', '{}'],
      ['a list', '[]'],
      ['null', 'null'],
      ['a word', 'ping'],
      ['a word in brackets', '[PING]'],
      ['a line of a log outside of any field', '\n\n[INFO] loaded\n{"cut\n'],
      ['a state', '{"status":"loading","message":"The model is loading."}'],
      ['a success', '{"code":0,"message":"ok","errors":[],"base_resp":{"status_code":0,"status_msg":""}}'],
      ['a comment', ': keepalive'],
      ['nothing', ''],
      ['an empty list of choices', '{"choices":[]}'],
      ['an error that is empty', '{"choices":[{"delta":{},"error":{}}],"error":{"message":"","code":0}}'],
      ['a ping of Anthropic', '{"type":"ping"}'],
    ])('is not %s, which is skipped', async (_, data) => {
      const [hi = '', ...rest] = openaiText('Hi', ' there')
      const answer = await ask({ stream: [`data: ${data}\n\n`, hi, `data:${data}\n\n`, ...rest] })
      expect(answer).toMatchObject({ text: 'Hi there', error: undefined })
    })

    test.each<[string, Reply]>([
      ['nothing at all', { stream: [] }],
      ['an empty body', { status: 204, text: '' }],
      ['only [DONE]', { stream: ['data: [DONE]\n\n'] }],
      ['a line without end', { stream: Array.from({ length: 6 }, () => 'x'.repeat(1_000_000)) }],
    ])('%s is no answer', async (_, reply) => {
      expect((await ask(reply)).error).toMatchObject({ code: 'MODEL_ERROR' })
    })
  })

  describe('a body that is no stream', () => {
    const completion = (fields: object) => ({
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, ...fields }],
      usage: { prompt_tokens: 3, completion_tokens: 1 },
    })

    test.each<[string, Reply]>([
      ['a completion', { json: completion({ finish_reason: 'stop' }) }],
      ['a completion without a reason', { json: completion({ finish_reason: null }) }],
      ['a completion after blanks', { text: `\n  \n${JSON.stringify(completion({}), null, 2)}\n` }],
      ['a completion that is labelled as a stream', { stream: [JSON.stringify(completion({}))] }],
      ['a completion as the only event', streamOf(completion({}))],
      ['deltas, and all of it again as a message', streamOf(openaiChunk({ content: 'Hi' }), completion({}))],
    ])('may be %s', async (_, reply) => {
      expect(await ask(reply)).toMatchObject({ text: 'Hi', error: undefined })
    })

    const error = (fields: object) => ({ error: { message: 'x', ...fields } })
    test.each<[string, Reply, string]>([
      ['a 402', { json: error({ code: 402 }) }, 'credit'],
      ['a 402 in a text', { json: error({ code: '402' }) }, 'credit'],
      [
        'a 401, after blanks',
        { text: `\n \n\n${JSON.stringify(error({ code: 401 }))}` },
        'refused the configured key',
      ],
      ['a 429 labelled as a stream', { stream: [JSON.stringify(error({ code: 429 }))] }, 'rate limiting'],
      ['a 429 in several lines', { text: JSON.stringify(error({ code: 429 }), null, 2) }, 'rate limiting'],
      ['a type', { json: error({ type: 'authentication_error' }) }, 'refused the configured key'],
      ['words', { json: error({ message: 'Insufficient credits' }) }, 'credit'],
      ['a code in words', { json: error({ code: 'invalid_api_key' }) }, 'refused the configured key'],
      ['another code in words', { json: error({ code: 'insufficient_credits' }) }, 'credit'],
      ['a message alone', { json: { message: 'Unauthorized' } }, 'refused the configured key'],
      ['a text', { json: { error: 'Rate limit reached' } }, 'rate limiting'],
      ['a list', { json: [error({ code: 429, status: 'RESOURCE_EXHAUSTED' })] }, 'rate limiting'],
      [
        'an event of the type error',
        { stream: [`event: error\ndata: ${JSON.stringify(error({ type: 'overloaded_error' }))}\n\n`] },
        'is failing',
      ],
      [
        'an event of the type error, in words',
        { stream: ['event: error\ndata: rate limit exceeded\n\n'] },
        'rate limiting',
      ],
      [
        'a field error',
        { stream: ['error: {"code":400,"type":"exceed_context_size_error"}\n\n'] },
        'too long',
      ],
      [
        'an error before [DONE]',
        { stream: [`${JSON.stringify(error({ code: 402 }))}\n\ndata: [DONE]\n\n`] },
        'credit',
      ],
    ])('may be an error: %s', async (_, reply, words) => {
      expect((await ask(reply)).error).toMatchObject({ message: expect.stringContaining(words) })
    })

    test('is asked for again if its error may pass, and not otherwise', async () => {
      expect((await ask({ json: error({ code: 502 }) })).requests).toHaveLength(3)
      expect((await ask({ json: error({ code: 402 }) })).requests).toHaveLength(1)
      expect(
        (await ask({ status: 500, json: error({ message: 'Context size has been exceeded.' }) })).requests,
      ).toHaveLength(1)
    })
  })

  test('an answer without end is given up, and not asked for again', async () => {
    let made = 0
    const piece = `: ${'x'.repeat(1_000_000)}\n\n`
    async function* endless() {
      for (; made < 60; made += 1) yield piece
      yield openaiText('Hi').join('')
    }
    const { text, error, requests } = await ask({ stream: endless() })
    expect(text).toBe('')
    expect(error).toMatchObject({ code: 'MODEL_ERROR', message: expect.stringContaining("can't be read") })
    expect(requests).toHaveLength(1)
  })

  test('many parts of one event come in order', async () => {
    const content = Array.from({ length: 20_000 }, (_, index) => ({ type: 'text', text: `${index},` }))
    const { text } = await ask(streamOf(openaiChunk({ content }), openaiChunk({}, 'stop')))
    expect(text).toBe(content.map(part => part.text).join(''))
  })

  test('the request says all that a turn has to say', async () => {
    const prompt: PromptMessage[] = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Two?' }] },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm' },
          { type: 'text', text: 'Let me look.' },
          { type: 'tool-call', toolCallId: 'a', toolName: 'f', input: { x: 1 } },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'a', toolName: 'f', output: { type: 'text', value: 'found' } },
          { type: 'tool-result', toolCallId: 'b', toolName: 'f', output: { type: 'json', value: { y: 2 } } },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'Two.' }] },
    ]
    const inputSchema = { type: 'object' as const, properties: {} }
    const tools = [{ type: 'function' as const, name: 'f', description: 'Finds', inputSchema }]
    const options: CallOptions = {
      prompt,
      tools,
      toolChoice: { type: 'auto' },
      temperature: 0,
      maxOutputTokens: 9,
    }
    const { requests } = await ask(streamOf(openaiChunk({}, 'stop')), options)
    expect(requests[0]?.headers).toMatchObject({ accept: 'text/event-stream' })
    expect(requests[0]?.headers.authorization).toBeUndefined()
    expect(requests[0]?.body).toEqual({
      model: 'm-1',
      temperature: 0,
      max_tokens: 9,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Two?' },
        {
          role: 'assistant',
          content: 'Let me look.',
          reasoning_content: 'hm',
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: 'found' },
        { role: 'tool', tool_call_id: 'b', content: '{"y":2}' },
        { role: 'assistant', content: 'Two.' },
      ],
      tools: [{ type: 'function', function: { name: 'f', description: 'Finds', parameters: inputSchema } }],
      tool_choice: 'auto',
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  describe('a connection', () => {
    test('that breaks in the middle is an answer that broke off', async () => {
      const { text, error } = await ask({ stream: openaiText('Hi').slice(0, 1), cut: true })
      expect(text).toBe('Hi')
      expect(error).toMatchObject({ code: 'MODEL_ERROR', message: expect.stringContaining('broke off') })
    })

    test('that redirects is not followed', async () => {
      await using target = await startModelServer(() => ({ stream: openaiText('Hi') }))
      const headers = { location: `${target.url}/v1/chat/completions` }
      const { error } = await ask({ status: 307, headers, text: '' })
      expect(error).toMatchObject({
        code: 'MODEL_ERROR',
        message: expect.stringContaining("can't be reached"),
      })
      expect(target.requests).toEqual([])
    })

    test('that nobody takes can not be reached', async () => {
      const server = await startModelServer(() => ({ text: '' }))
      await server[Symbol.asyncDispose]()
      const model = chatCompletionsModel('m-1', { baseUrl: server.url, fetch, send })
      await expect(model.doStream(question('Hello'))).rejects.toMatchObject({
        name: 'APICallError',
        isRetryable: true,
        statusCode: undefined,
      })
    })

    test('to what is no address can not be made, which says nothing of the key', async () => {
      const endpoint = { baseUrl: 'nowhere', apiKey: 'secret\nkey', fetch, send }
      const failure = await chatCompletionsModel('m-1', endpoint)
        .doStream(question('Hello'))
        .then(
          () => undefined,
          (error: unknown) => error,
        )
      expect(failure).toMatchObject({ name: 'APICallError', isRetryable: false })
      expect(String(failure)).not.toContain('secret')
    })

    test('is closed when the answer is no longer wanted', async () => {
      const closed = Promise.withResolvers<void>()
      async function* endless() {
        try {
          for (;;) yield openaiText('Hi')[0] ?? ''
        } finally {
          closed.resolve()
        }
      }
      await using server = await startModelServer(() => ({ stream: endless() }))
      const model = chatCompletionsModel('m-1', { baseUrl: server.url, fetch, send })
      const reading = streamWithRetry({ provider: 'p', modelId: 'm-1', ...model }, question('Hello'))
      await expect(
        reading(part => {
          if (part.type === 'text-delta') throw new Error('enough')
        }),
      ).rejects.toThrow('enough')
      await closed.promise
    })

    test('that was lost before anyone read is an answer that broke off', async () => {
      await using server = await startModelServer(() => ({ stream: silence() }))
      const leaving = new AbortController()
      const model = chatCompletionsModel('m-1', { baseUrl: server.url, fetch, send })
      const { stream } = await model.doStream({ ...question('Hello'), abortSignal: leaving.signal })
      leaving.abort(new Error('gone'))
      const doStream = async () => ({ stream })
      const reading = streamWithRetry(
        { provider: 'p', modelId: 'm-1', doStream },
        question('Hello'),
        immediately,
      )
      expect((await collect(reading)).error).toMatchObject({ code: 'MODEL_ERROR' })
    })

    test('is held back until somebody reads', async () => {
      let made = 0
      const piece = openaiText('x'.repeat(1000))[0] ?? ''
      async function* flood() {
        for (; made < 200_000; made += 1) yield piece
      }
      await using server = await startModelServer(() => ({ stream: flood() }))
      const model = chatCompletionsModel('m-1', { baseUrl: server.url, fetch, send })
      const { stream } = await model.doStream(question('Hello'))
      await eventually(async () => {
        const before = made
        await new Promise(resolve => setImmediate(resolve))
        expect(made).toBe(before)
      })
      expect(made).toBeLessThan(100_000)
      const enough = (part: StreamPart) => {
        if (part.type === 'text-delta') throw new Error('enough')
      }
      const doStream = async () => ({ stream })
      const reading = streamWithRetry({ provider: 'p', modelId: 'm-1', doStream }, question('Hello'))
      await expect(reading(enough)).rejects.toThrow('enough')
    })
  })

  test('a refusal tells how long to wait', async () => {
    const waits: number[] = []
    const timing = {
      ...immediately,
      sleep: async (wait: number) => {
        waits.push(wait)
      },
    }
    const limited = { status: 429, headers: { 'retry-after': '3' }, json: { detail: 'slow down' } }
    await using server = await startModelServer((_, index) =>
      index === 0 ? limited : { stream: openaiText('Hi') },
    )
    const endpoint = { baseUrl: server.url, fetch, send }
    const model = await remoteLanguageModel('openai-compatible', 'm-1', endpoint)
    expect(await collect(streamWithRetry(model, question('Hello'), timing))).toMatchObject({ text: 'Hi' })
    expect(waits).toEqual([3000])
  })
})
