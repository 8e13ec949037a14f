import { describe, expect, it } from 'vitest'
import type { PromptMessage } from '#models/language-model/language-model.ts'
import { limitRow } from '#test/spec/row.ts'
import { seededRandom } from '#test/support/endurance.ts'
import { fitPrompt, promptCharacters, sizeOf } from './context-budget.ts'

type Random = () => number

describe(`the budget ${limitRow('context-budget')}`, () => {
  it.each([
    ['a large window less 20,000 tokens', 128_000, 108_000],
    ['half of a smaller window', 32_768, 16_384],
    ['half of a window of exactly twice the reserve', 40_000, 20_000],
    ['half of a tiny window, rounded up', 2_001, 1_001],
  ])('is %s, at 4 characters a token', (_what, window, tokens) => {
    expect(promptCharacters(window)).toBe(tokens * 4)
  })
})

describe('fitting a prompt', () => {
  it('leaves one that fits as it is', () => {
    const prompt = [system('Be brief.'), user('Hello'), assistant('Hi'), user('How are you?')]
    expect(fitPrompt(prompt, sizeOf(prompt))).toEqual(prompt)
  })

  it('leaves out the oldest exchange first, with its answer', () => {
    const prompt = [system('S'), user('first'), assistant('1'), user('second'), assistant('2'), user('third')]
    expect(fitPrompt(prompt, sizeOf(prompt) - 1)).toEqual([system('S'), ...prompt.slice(3)])
  })

  it('leaves out nothing in the middle: what is older than the first that does not fit goes as well', () => {
    const long = 'x'.repeat(1000)
    const prompt = [user('tiny'), assistant('1'), user(long), assistant('2'), user('last')]
    expect(fitPrompt(prompt, 500)).toEqual([user('last')])
  })

  it('shortens the longest texts of the last exchange, and leaves the short ones whole', () => {
    const prompt = [
      system('You are kind.'),
      user('What do the pages say?'),
      call('a', { url: 'https://one.example' }),
      result('a', 'x'.repeat(50_000)),
      call('b', { url: 'https://two.example' }),
      result('b', 'y'.repeat(300)),
    ]
    const fitted = fitPrompt(prompt, 5000)
    expect(textsOf(fitted)).toEqual([
      'You are kind.',
      'What do the pages say?',
      '{"url":"https://one.example"}',
      expect.stringMatching(/^x{2000,}\n\[… \d+ characters left out …\]\nx{500,}$/),
      '{"url":"https://two.example"}',
      'y'.repeat(300),
    ])
  })

  it('keeps the system prompt whole though the results of many tools are far longer', () => {
    const instructions = 'Always answer in verse. '.repeat(100)
    const many = Array.from({ length: 30 }, (_, index) => `call-${index}`)
    const prompt = [
      system(instructions),
      user('Go'),
      ...many.flatMap(id => [call(id, { id }), result(id, 'x'.repeat(16_000))]),
    ]
    const fitted = fitPrompt(prompt, 30_000)
    expect(fitted[0]).toEqual(system(instructions))
    expect(sizeOf(fitted)).toBeLessThanOrEqual(30_000)
  })

  it('shortens a system prompt that alone takes more than half of the room', () => {
    const fitted = fitPrompt([system('s'.repeat(90_000)), user('u'.repeat(90_000))], 10_000)
    expect(fitted.map(({ role }) => role)).toEqual(['system', 'user'])
    expect(sizeOf(fitted)).toBeLessThanOrEqual(10_000)
    for (const text of textsOf(fitted)) expect(text.length).toBeGreaterThan(4000)
  })

  it('drops the arguments of a call rather than half of them', () => {
    const fitted = fitPrompt([user('Go'), call('a', { text: 'x'.repeat(9000) }), result('a', 'ok')], 500)
    expect(fitted[1]).toEqual(call('a', {}))
  })

  it('keeps every message even where there is no room at all', () => {
    const prompt = [system('S'), user('Go'), call('a', { text: 'x' }), result('a', 'ok')]
    expect(fitPrompt(prompt, -100)).toEqual([system(''), user(''), call('a', {}), result('a', '')])
  })

  it('is the same function twice over: what fits already is not changed again', () => {
    const random = seededRandom(7)
    for (let round = 0; round < 50; round += 1) {
      const { prompt, characters } = anyCase(random)
      const fitted = fitPrompt(prompt, characters)
      expect(fitPrompt(fitted, characters)).toEqual(fitted)
    }
  })
})

describe('whatever was said before, how large the window and the outputs of tools are', () => {
  const rounds = 600

  it.each([1, 2, 3])('the fitted prompt keeps its promises (seed %i)', seed => {
    const random = seededRandom(seed)
    let shortened = 0
    let trimmed = 0
    for (let round = 0; round < rounds; round += 1) {
      const { prompt, characters } = anyCase(random)
      const fitted = fitPrompt(prompt, characters)
      expect(charactersOf(fitted), `round ${round}`).toBeLessThanOrEqual(characters)
      expectSystem(prompt, fitted, characters)
      expectPairs(fitted)
      expectLastExchange(prompt, fitted)
      if (fitted.length < prompt.length) trimmed += 1
      if (charactersOf(fitted) < charactersOf(prompt.slice(-fitted.length))) shortened += 1
    }
    // The cases that matter come up often enough for the test to mean something.
    expect(trimmed).toBeGreaterThan(rounds / 5)
    expect(shortened).toBeGreaterThan(rounds / 10)
  })
})

/** A conversation of some exchanges, the last of them perhaps in the middle of its tool calls, and a room for it. */
function anyCase(random: Random): { prompt: PromptMessage[]; characters: number } {
  const between = (least: number, most: number) => least + Math.floor(random() * (most - least + 1))
  // Lengths spread over orders of magnitude, as those of real messages do.
  const words = (most: number) =>
    'lorem 😀 "ipsum"\n'.repeat(between(0, most) / 17 + 1).slice(0, between(1, most))
  const length = () => 10 ** between(1, 4)

  function step(): PromptMessage[] {
    const ids = Array.from({ length: between(1, 3) }, () => `call-${random()}`)
    const said = random() < 0.3 ? [{ type: 'text' as const, text: words(200) }] : []
    return [
      {
        role: 'assistant',
        content: [
          ...said,
          ...ids.map(toolCallId => ({
            type: 'tool-call' as const,
            toolCallId,
            toolName: 'search',
            input: { query: words(length()) },
          })),
        ],
      },
      { role: 'tool', content: ids.map(toolCallId => toolResult(toolCallId, anyOutput())) },
    ]
  }

  function anyOutput() {
    const value = words(length() * 5)
    if (random() < 0.3) return { type: 'json' as const, value: { rows: [value] } }
    return { type: random() < 0.2 ? ('error-text' as const) : ('text' as const), value }
  }

  const steps = (most: number) => Array.from({ length: between(0, most) }, step).flat()
  const before = Array.from({ length: between(0, 6) }, () => [
    user(words(length())),
    ...steps(3),
    ...(random() < 0.8 ? [assistant(words(length()))] : []),
  ]).flat()
  const prompt = [system(words(length())), ...before, user(words(length())), ...steps(8)]
  return { prompt, characters: promptCharacters(2000 + Math.floor(random() ** 3 * 120_000)) }
}

function expectSystem(
  prompt: readonly PromptMessage[],
  fitted: readonly PromptMessage[],
  characters: number,
): void {
  expect(systemOf(fitted)).toHaveLength(1)
  if (sizeOf(systemOf(prompt)) <= characters / 2) expect(systemOf(fitted)).toEqual(systemOf(prompt))
}

/** Every call that is left has its result, in the next message, and every result its call. */
function expectPairs(prompt: readonly PromptMessage[]): void {
  for (const [index, message] of prompt.entries()) {
    if (message.role === 'tool') expect(prompt[index - 1]?.role).toBe('assistant')
    if (message.role !== 'assistant') continue
    const called = message.content.flatMap(part => (part.type === 'tool-call' ? [part.toolCallId] : []))
    const next = prompt[index + 1]
    const answered =
      next?.role === 'tool'
        ? next.content.flatMap(part => (part.type === 'tool-result' ? [part.toolCallId] : []))
        : []
    expect(answered).toEqual(called)
  }
}

/** The last exchange is there with all its messages; older ones are there as they were, or not at all. */
function expectLastExchange(prompt: readonly PromptMessage[], fitted: readonly PromptMessage[]): void {
  const last = prompt.findLastIndex(({ role }) => role === 'user')
  const lastFitted = fitted.findLastIndex(({ role }) => role === 'user')
  expect(fitted.slice(lastFitted).map(({ role }) => role)).toEqual(prompt.slice(last).map(({ role }) => role))
  const older = fitted.slice(1, lastFitted)
  if (older.length > 0) expect(older).toEqual(prompt.slice(last - older.length, last))
  expect(older[0]?.role ?? 'user').toBe('user')
}

/** Counted in the test's own way: every text that a model would be sent. */
function charactersOf(prompt: readonly PromptMessage[]): number {
  return textsOf(prompt).reduce((sum, text) => sum + text.length, 0)
}

function textsOf(prompt: readonly PromptMessage[]): string[] {
  return prompt.flatMap(message => {
    if (message.role === 'system') return [message.content]
    return message.content.flatMap(part => {
      if (part.type === 'text') return [part.text]
      if (part.type === 'tool-call') return [JSON.stringify(part.input)]
      if (part.type !== 'tool-result' || !('value' in part.output)) return []
      const { value } = part.output
      return [typeof value === 'string' ? value : JSON.stringify(value)]
    })
  })
}

function systemOf(prompt: readonly PromptMessage[]): PromptMessage[] {
  return prompt.filter(({ role }) => role === 'system')
}

function system(content: string): PromptMessage {
  return { role: 'system', content }
}

function user(text: string): PromptMessage {
  return { role: 'user', content: [{ type: 'text', text }] }
}

function assistant(text: string): PromptMessage {
  return { role: 'assistant', content: [{ type: 'text', text }] }
}

function call(toolCallId: string, input: unknown): PromptMessage {
  return { role: 'assistant', content: [{ type: 'tool-call', toolCallId, toolName: 'search', input }] }
}

function result(toolCallId: string, value: string): PromptMessage {
  return { role: 'tool', content: [toolResult(toolCallId, { type: 'text', value })] }
}

function toolResult<Output>(toolCallId: string, output: Output) {
  return { type: 'tool-result' as const, toolCallId, toolName: 'search', output }
}
