/**
 * Streams of chat completions as servers document them, made by hand. They differ in line ends, keep-alives, roles,
 * the place of the usage, reasoning and tool calls, and in how they end.
 */
export interface ServerTranscript {
  server: string
  body: string
  text: string
  reasoning?: string
  /** Name and arguments of each call. */
  calls?: [name: string, input: unknown][]
  tokens?: { input: number; output: number }
}

const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  id: 'chatcmpl-9',
  object: 'chat.completion.chunk',
  created: 1_764_000_000,
  model: 'm',
  choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  ...more,
})
const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`
const done = 'data: [DONE]\n\n'
const call = (delta: object, more: object = {}) => chunk({ tool_calls: [delta] }, null, more)
const begin = (index: number, id: string, name: string, input = '') => ({
  index,
  id,
  type: 'function',
  function: { name, arguments: input },
})
const go = (index: number, input: string) => ({ index, function: { arguments: input } })
const usage = (input: number, output: number) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
})

export const serverTranscripts: ServerTranscript[] = [
  {
    server: 'llama.cpp',
    // The role comes with content null; timings and usage come with the last chunk, whose choices are empty.
    body: [
      data(chunk({ role: 'assistant', content: null })),
      data(chunk({ content: 'Grüße' })),
      data(chunk({ content: ' aus Köln 🐵' })),
      data(chunk({}, 'stop')),
      data({ ...chunk({}), choices: [], usage: usage(11, 6), timings: { prompt_n: 11 } }),
      done,
    ].join(''),
    text: 'Grüße aus Köln 🐵',
    tokens: { input: 11, output: 6 },
  },
  {
    server: 'Ollama',
    // Every chunk has a role; a call is whole in one chunk; the reason is a chunk of its own.
    body: [
      data(chunk({ role: 'assistant', content: '', reasoning: 'The user wants ' })),
      data(chunk({ role: 'assistant', content: '', reasoning: 'weather.' })),
      data(
        chunk({
          role: 'assistant',
          content: '',
          tool_calls: [begin(0, 'call_x1', 'get_weather', '{"city":"Malmö"}')],
        }),
      ),
      data(chunk({ role: 'assistant', content: '' }, 'tool_calls', { system_fingerprint: 'fp_ollama' })),
      done,
    ].join(''),
    text: '',
    reasoning: 'The user wants weather.',
    calls: [['get_weather', { city: 'Malmö' }]],
  },
  {
    server: 'vLLM',
    // Two calls side by side, torn; stop_reason beside finish_reason; usage in every chunk.
    body: [
      data(chunk({ role: 'assistant', content: '' }, null, { usage: usage(30, 0) })),
      data(call(begin(0, 'chatcmpl-tool-1', 'get_weather'), { usage: usage(30, 4) })),
      data(call(go(0, '{"city": "Os'))),
      data(call(go(0, 'lo"}'))),
      data(call(begin(1, 'chatcmpl-tool-2', 'get_time'))),
      data(call(go(1, '{"zone": "UTC"}'))),
      data({
        ...chunk({}),
        choices: [{ index: 0, delta: { content: '' }, finish_reason: 'tool_calls', stop_reason: null }],
        usage: usage(30, 25),
      }),
      done,
    ].join(''),
    text: '',
    calls: [
      ['get_weather', { city: 'Oslo' }],
      ['get_time', { zone: 'UTC' }],
    ],
    tokens: { input: 30, output: 25 },
  },
  {
    server: 'LM Studio',
    // Thoughts are within the text, torn at the tag.
    body: [
      ...['<thi', 'nk>\nShort gree', 'ting.\n</th', 'ink>\n', '\nHello', ' there'].map(content =>
        data(chunk({ role: 'assistant', content }, null, { system_fingerprint: 'm' })),
      ),
      data(chunk({}, 'stop')),
      done,
    ].join(''),
    text: 'Hello there',
    reasoning: '\nShort greeting.\n',
  },
  {
    server: 'OpenRouter',
    // Comments keep the connection open; usage is in a chunk that has an empty delta.
    body: [
      ': OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n',
      data(
        chunk({ role: 'assistant', content: '', reasoning: 'Hm.', reasoning_details: [] }, null, {
          provider: 'X',
        }),
      ),
      ': OPENROUTER PROCESSING\n\n',
      data(chunk({ role: 'assistant', content: 'Yes', reasoning: null }, null, { provider: 'X' })),
      data(chunk({ role: 'assistant', content: '' }, 'stop', { native_finish_reason: 'stop' })),
      data({ ...chunk({ role: 'assistant', content: '' }), usage: { ...usage(8, 3), cost: 0.1 } }),
      done,
    ].join(''),
    text: 'Yes',
    reasoning: 'Hm.',
    tokens: { input: 8, output: 3 },
  },
  {
    server: 'Azure',
    // The first chunk has no choices, but the results of the filter.
    body: [
      data({
        choices: [],
        created: 0,
        id: '',
        model: '',
        object: '',
        prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }],
      }),
      data(chunk({ role: 'assistant', content: '', refusal: null })),
      data({
        ...chunk({}),
        choices: [{ index: 0, delta: { content: 'Sure' }, content_filter_results: {}, finish_reason: null }],
      }),
      data({
        ...chunk({}),
        choices: [{ index: 0, finish_reason: null, content_filter_offsets: { start_offset: 0 } }],
      }),
      data(chunk({}, 'stop')),
      done,
    ].join(''),
    text: 'Sure',
  },
  {
    server: 'Groq',
    // Usage is in x_groq, and in a chunk of its own if it was asked for.
    body: [
      data(chunk({ role: 'assistant', content: '' }, null, { x_groq: { id: 'req_1' } })),
      data(call(begin(0, 'fk3w', 'get_weather', '{"city":"Bergen"}'))),
      data(chunk({}, 'tool_calls', { x_groq: { id: 'req_1', usage: usage(5, 7) } })),
      data({ ...chunk({}), choices: [], usage: usage(5, 7) }),
      done,
    ].join(''),
    text: '',
    calls: [['get_weather', { city: 'Bergen' }]],
    tokens: { input: 5, output: 7 },
  },
  {
    server: 'Mistral',
    // Content is a list of parts where the model thinks; lines end with CRLF.
    body: [
      data(
        chunk({
          role: 'assistant',
          content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Let me see.' }] }],
        }),
      ),
      data(chunk({ content: [{ type: 'text', text: 'Vier' }] })),
      data(chunk({ content: '.' }, 'stop', { usage: usage(4, 9) })),
      done,
    ]
      .join('')
      .replaceAll('\n', '\r\n'),
    text: 'Vier.',
    reasoning: 'Let me see.',
    tokens: { input: 4, output: 9 },
  },
  {
    server: 'DeepSeek',
    // Comments before a busy model begins; content is null while it thinks.
    body: [
      ': keep-alive\n\n\n: keep-alive\n\n',
      data(chunk({ role: 'assistant', content: null, reasoning_content: 'Zwei und ' })),
      data(chunk({ content: null, reasoning_content: 'zwei.' })),
      data(chunk({ content: 'Vier', reasoning_content: null })),
      data(chunk({ content: '', reasoning_content: null }, 'stop', { usage: usage(14, 20) })),
      done,
    ].join(''),
    text: 'Vier',
    reasoning: 'Zwei und zwei.',
    tokens: { input: 14, output: 20 },
  },
  {
    server: 'TGI',
    // A call without a list; the thoughts before it end in a quotation.
    body: [
      data(chunk({ role: 'assistant', content: '<think>say "Oslo"</think>' })),
      data(chunk({ role: 'assistant', tool_calls: begin(0, '', 'get_weather', '{"city":') })),
      data(chunk({ role: 'assistant', tool_calls: begin(0, '', '', '"Oslo"}') })),
      data(chunk({}, 'tool_calls')),
      done,
    ].join(''),
    text: '',
    reasoning: 'say "Oslo"',
    calls: [['get_weather', { city: 'Oslo' }]],
  },
  {
    server: 'Perplexity',
    // All that was said so far beside each delta.
    body: [
      ...['', 'Hel', 'Hello', 'Hello you'].map((content, at, all) => {
        const delta = { role: 'assistant', content: content.slice(all[at - 1]?.length ?? 0) }
        const message = { role: 'assistant', content: content || 'Hel' }
        return data({ choices: [{ index: 0, delta, message, finish_reason: at === 3 ? 'stop' : null }] })
      }),
    ].join(''),
    text: 'Hello you',
  },
  {
    server: 'LiteLLM',
    // Arguments follow a placeholder, names come with every delta of some models; the last chunk repeats no reason.
    body: [
      data(chunk({ role: 'assistant', content: 'Looking' })),
      data(call(begin(0, 'toolu_1', 'get-weather', '{}'))),
      data(call(go(0, ''))),
      data(call(go(0, '{"city": "Pa'))),
      data(call(go(0, 'ris"}'))),
      data(chunk({}, 'tool_calls')),
      data(chunk({}, null, { usage: usage(21, 2) })),
      done,
    ].join(''),
    text: 'Looking',
    calls: [['get_weather', { city: 'Paris' }]],
    tokens: { input: 21, output: 2 },
  },
]
