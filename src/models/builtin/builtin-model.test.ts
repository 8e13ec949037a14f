import { describe, expect, test } from 'vitest'
import { collect, question } from '#test/support/collect-answer.ts'
import type { CallOptions, PromptMessage, ToolOutput } from '../language-model/language-model.ts'
import { writePassages } from '../language-model/passages.ts'
import { streamWithRetry } from '../transport/call-with-retry.ts'
import { noQuestion, nothingFits, nothingGiven } from './answer.ts'
import { builtinLanguageModel } from './builtin-model.ts'

const tools = ['search_knowledge', 'browse_url', 'execute_sql'].map(name => ({
  type: 'function' as const,
  name,
  inputSchema: { type: 'object' as const },
}))

const manual = {
  source: 'manual.pdf',
  page: 8,
  text: 'The probe is delicate. Zero calibration is started by holding the left button for ten seconds. The display then shows CAL.',
}
const warranty = {
  source: 'terms.md',
  section: 'Warranty',
  text: 'The warranty lasts 24 months from the date of purchase.',
}

async function ask(options: CallOptions) {
  return await collect(streamWithRetry(builtinLanguageModel, options))
}

async function askAfter(text: string, toolName: string, output: ToolOutput): Promise<string> {
  const prompt: PromptMessage[] = [
    { role: 'user', content: [{ type: 'text', text }] },
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: '1', toolName, input: {} }] },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId: '1', toolName, output }] },
  ]
  const { text: answer, toolCalls } = await ask({ prompt, tools })
  expect(toolCalls).toEqual([])
  return answer
}

describe('which tool the built-in retriever calls', () => {
  test.each([
    ['How is it calibrated?', 'search_knowledge', { query: 'How is it calibrated?' }],
    [
      'What does (https://example.com/a?b=1&c=2). say?',
      'browse_url',
      { url: 'https://example.com/a?b=1&c=2' },
    ],
    ['SELECT name FROM contacts', 'execute_sql', { query: 'SELECT name FROM contacts' }],
    ['select 1', 'execute_sql', { query: 'select 1' }],
    [
      'with t as (select 1) select * from t',
      'execute_sql',
      { query: 'with t as (select 1) select * from t' },
    ],
    ['With what do I clean it?', 'search_knowledge', { query: 'With what do I clean it?' }],
    ['Select the right oil for me', 'search_knowledge', { query: 'Select the right oil for me' }],
  ])('%s', async (text, toolName, input) => {
    const { toolCalls, text: said, finish } = await ask(question(text, { tools }))
    expect(said).toBe('')
    expect(finish?.unified).toBe('tool-calls')
    expect(toolCalls).toMatchObject([{ toolName, toolCallId: expect.stringMatching(/^[A-Za-z0-9]{9}$/) }])
    expect(JSON.parse(toolCalls[0]?.input ?? '')).toEqual(input)
  })

  test('a URL is read and a SELECT run although passages are there, a question is not searched again', async () => {
    const withPassages = (text: string) => ask(question(`${text}\n\n${writePassages([manual])}`, { tools }))
    expect((await withPassages('Read https://example.com')).toolCalls).toMatchObject([
      { toolName: 'browse_url' },
    ])
    expect((await withPassages('SELECT 1')).toolCalls).toMatchObject([{ toolName: 'execute_sql' }])
    expect(await withPassages('How is it calibrated?')).toMatchObject({ toolCalls: [] })
  })

  test.each([
    ['without tools', {}],
    ['with tools that may not be called', { tools, toolChoice: { type: 'none' as const } }],
    ['with other tools', { tools: [{ type: 'function' as const, name: 'weather', inputSchema: {} }] }],
  ])('none %s: it says that it was given nothing', async (_, options) => {
    expect(await ask(question('How is it calibrated?', options))).toMatchObject({
      toolCalls: [],
      text: nothingGiven,
    })
  })
})

describe('what the built-in retriever answers', () => {
  test('quotes the passage that fits, named by source and page', async () => {
    const prompt: PromptMessage[] = [
      { role: 'system', content: `Be brief.\n${writePassages([warranty, manual])}` },
      { role: 'user', content: [{ type: 'text', text: 'How do I start the zero calibration?' }] },
    ]
    const { text } = await ask({ prompt, tools })
    expect(text).toBe(`From “manual.pdf”, page 8: “${manual.text}”`)
  })

  test('names the section where there is no page', async () => {
    const { text } = await ask(question(`How long is the warranty?\n${writePassages([manual, warranty])}`))
    expect(text).toBe(`From “terms.md”, section “Warranty”: “${warranty.text}”`)
  })

  test('names the page of a website by its address', async () => {
    const page = { ...warranty, source: 'Shop', url: 'https://shop.example/terms' }
    const answer = `From “Shop”, https://shop.example/terms, section “Warranty”: “${warranty.text}”`
    const asked = 'How long is the warranty?'
    expect((await ask(question(`${asked}\n${writePassages([page])}`))).text).toBe(answer)
    const { text: content, source: source_name, section, url } = page
    const value = { results: [{ content, metadata: { source_name, page: null, section, url } }] }
    expect(await askAfter(asked, 'search_knowledge', { type: 'json', value })).toBe(answer)
  })

  test('quotes what a search found', async () => {
    const results = [manual, warranty].map(({ text, source, ...metadata }) => ({
      content: text,
      score: 0.9,
      metadata: { source_name: source, page: null, section: null, ...metadata },
    }))
    const answer = `From “manual.pdf”, page 8: “${manual.text}”`
    const asked = 'How is the probe calibrated?'
    expect(await askAfter(asked, 'search_knowledge', { type: 'json', value: { results } })).toBe(answer)
    const json = JSON.stringify({ results })
    expect(await askAfter(asked, 'search_knowledge', { type: 'text', value: json })).toBe(answer)
    // Shortened within the second entry: the first one is still whole, and nothing of the rest is taken for it.
    for (const shortened of [
      `${json.slice(0, -40)}…`,
      `${json.slice(0, -90)}\n[… left out …]\n${json.slice(-40)}`,
    ]) {
      expect(await askAfter(asked, 'search_knowledge', { type: 'text', value: shortened })).toBe(answer)
    }
  })

  test('says plainly that nothing fits', async () => {
    expect(
      (await ask(question(`What is the capital of France?\n${writePassages([manual, warranty])}`))).text,
    ).toBe(nothingFits)
    expect(
      await askAfter('Capital of France?', 'search_knowledge', { type: 'json', value: { results: [] } }),
    ).toBe(nothingFits)
  })

  test('says that a passage is only the closest where most of the question is not in it', async () => {
    const { text } = await ask(
      question(`Which colour does the probe case of the deluxe edition have?\n${writePassages([manual])}`),
    )
    expect(text).toMatch(
      /^This may not answer the question, but it is the closest passage:\n\nFrom “manual\.pdf”, page 8: “/,
    )
  })

  test.each([
    [0.36, 0.35, 'How long is the warranty?', warranty],
    [0.28, 0.27, '校准探头需要多久？', { source: '手册.md', text: '校准探头需要十秒钟。' }],
  ])(
    'says that nothing fits where the search found the passage less than %d good',
    async (good, less, asked, passage) => {
      const answer = async (score: number) =>
        (await ask(question(`${asked}\n${writePassages([{ ...passage, score }])}`))).text
      expect(await answer(good)).toContain(passage.text)
      expect(await answer(less)).toBe(nothingFits)
    },
  )

  test.each([
    [{ total: 0, documents: [] }, 'This agent has no documents yet.'],
    [
      { total: 1, documents: [{ name: 'a.pdf', status: 'ready' }] },
      'This agent has one document:\n\n- “a.pdf” (ready)',
    ],
    [
      { total: 3, documents: ['a', 'b'].map(name => ({ name, status: 'error' })) },
      'This agent has 3 documents; the first 2:\n\n- “a” (error)\n- “b” (error)',
    ],
  ])('lists documents', async (value, answer) => {
    const asked = 'Which documents do you have?'
    expect(await askAfter(asked, 'search_knowledge', { type: 'json', value })).toBe(answer)
    const json = JSON.stringify(value)
    expect(await askAfter(asked, 'search_knowledge', { type: 'text', value: json })).toBe(answer)
  })

  test('lists as many documents as there are in a shortened list', async () => {
    const documents = ['a', 'b', 'c'].map(name => ({ name, status: 'ready' }))
    const json = JSON.stringify({ total: 3, documents })
    const value = `${json.slice(0, -20)}\n[… left out …]\n${json.slice(-5)}`
    expect(await askAfter('List your documents', 'search_knowledge', { type: 'text', value })).toBe(
      'This agent has 3 documents; the first 2:\n\n- “a” (ready)\n- “b” (ready)',
    )
  })

  test('introduces itself where nothing is asked', async () => {
    expect((await ask(question(`And you, how are you?\n${writePassages([manual])}`))).text).toBe(noQuestion)
    expect((await ask(question(''))).text).toBe(noQuestion)
  })

  test('quotes a page that it has read', async () => {
    const markdown =
      '# Opening hours\n\n![clock](c.png) The [museum](https://m.example/) opens at ten.\n\n## Tickets\n\nA ticket costs 12 euros.'
    const page = { url: 'https://m.example/', title: 'Museum', markdown }
    expect(
      await askAfter('What does a ticket cost? https://m.example/', 'browse_url', {
        type: 'json',
        value: page,
      }),
    ).toBe(
      'From “Museum” (https://m.example/): “Opening hours The museum opens at ten. Tickets A ticket costs 12 euros.”',
    )
    expect(await askAfter('https://m.example/', 'browse_url', { type: 'json', value: page })).toBe(
      '“Museum” (https://m.example/) begins: “Opening hours The museum opens at ten. Tickets A ticket costs 12 euros.”',
    )
    expect(
      await askAfter('https://m.example/ dinosaurs', 'browse_url', { type: 'json', value: page }),
    ).toMatch(/^Nothing on the page “Museum” \(https:\/\/m\.example\/\) fits that question/)
    expect(
      await askAfter('https://m.example/', 'browse_url', { type: 'json', value: { ...page, markdown: ' ' } }),
    ).toBe('The page “Museum” (https://m.example/) holds no text.')
  })

  test.each(['', '\\', '\\u00'])('quotes a page whose text was cut in the middle, after %j', async end => {
    const value = `{"url":"https://m.example/","title":"Museum","markdown":"A ticket costs 12 euros.${end}\n[… left out …]\nticket x"}`
    expect(
      await askAfter('What does a ticket cost? https://m.example/', 'browse_url', { type: 'text', value }),
    ).toBe('From “Museum” (https://m.example/): “A ticket costs 12 euros.”')
  })

  test('shows the rows of a query', async () => {
    const value = { columns: ['name', 'note'], rows: [['Ada', null], { name: 'a|b', note: 'two\nlines' }] }
    expect(await askAfter('SELECT 1', 'execute_sql', { type: 'json', value })).toBe(
      'The query found 2 rows:\n\n| name | note |\n| --- | --- |\n| Ada |  |\n| a\\|b | two lines |',
    )
    const many = { columns: ['n'], rows: Array.from({ length: 30 }, (_, n) => [n]) }
    const answer = await askAfter('SELECT 1', 'execute_sql', { type: 'json', value: many })
    expect(answer).toMatch(/^The query found 30 rows; the first 20:/)
    expect(answer.split('\n')).toHaveLength(24)
    expect(
      await askAfter('SELECT 1', 'execute_sql', { type: 'json', value: { columns: [], rows: [] } }),
    ).toBe('The query found no rows.')
  })

  test.each<[ToolOutput, string]>([
    [{ type: 'error-text', value: 'no such table: x' }, 'no such table: x'],
    [{ type: 'error-json', value: { code: 7 } }, '{"code":7}'],
    [{ type: 'execution-denied', reason: 'not today' }, 'not today'],
  ])('says which call failed and why', async (output, reason) => {
    expect(await askAfter('SELECT 1', 'execute_sql', output)).toBe(`The tool execute_sql failed: ${reason}`)
  })

  test('looks at the last message only', async () => {
    const prompt: PromptMessage[] = [
      {
        role: 'user',
        content: [{ type: 'text', text: `How is it calibrated?\n${writePassages([manual])}` }],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'So and so.' }] },
      {
        role: 'user',
        content: [{ type: 'text', text: `How long is the warranty?\n${writePassages([warranty])}` }],
      },
    ]
    expect((await ask({ prompt })).text).toContain('“terms.md”')
  })
})

describe('how it streams', () => {
  test('a few words at a time, and loses none', async () => {
    const text = `Zero ${'word '.repeat(40)}calibration 校准探头按住按钮十秒钟${'x'.repeat(60)}\n\n  end`
    const deltas: string[] = []
    const asked = question(`zero calibration\n${writePassages([{ ...manual, text }])}`)
    await streamWithRetry(
      builtinLanguageModel,
      asked,
    )(part => {
      if (part.type === 'text-delta') deltas.push(part.delta)
    })
    expect(deltas.length).toBeGreaterThan(10)
    expect(Math.max(...deltas.map(delta => delta.length))).toBeLessThanOrEqual(104)
    expect(deltas.join('')).toBe(`From “manual.pdf”, page 8: “${text.replace(/\s+/g, ' ')}”`)
  })

  test('ends with the signal', async () => {
    const abortSignal = AbortSignal.abort(new Error('gone'))
    expect((await ask(question('Hello', { abortSignal }))).error).toMatchObject({ message: 'gone' })
  })
})
