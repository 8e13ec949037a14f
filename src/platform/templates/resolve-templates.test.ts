import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTemplates, splitTemplates, templateProblem } from './resolve-templates.ts'

const input = {
  contact: {
    name: 'Ada',
    tags: ['a', 'b'],
    'e-mail': 'ada@example.com',
    größe: 3,
    none: null,
    'first name': { latin: 'Ada' },
    "it's": 1,
  },
  total: 7.5,
  paid: false,
  nested: '{{total}}',
  $id: 1,
  nodes: 'of the input',
}
const scope = { input, nodes: { list: { rows: [{ id: 1 }] } }, now: '2026-01-01T00:00:00.000Z' }

async function resolved(value: unknown) {
  const templates = createTemplates(scope)
  return { value: await templates.resolve(value), warnings: templates.warnings() }
}

describe('a text that is one template becomes the value', () => {
  it.each([
    ['{{contact.name}}', 'Ada'],
    ['{{ contact.name }}', 'Ada'],
    ['{{contact.tags}}', ['a', 'b']],
    ['{{contact.tags.1}}', 'b'],
    ['{{contact.tags[1]}}', 'b'],
    ['{{ contact["tags"][0] }}', 'a'],
    ["{{contact['first name'].latin}}", 'Ada'],
    ['{{["contact"]["e-mail"]}}', 'ada@example.com'],
    ['{{contact["it\'s"]}}', 1],
    ['{{nodes["list"].rows[0].id}}', 1],
    ['{{contact.e-mail}}', 'ada@example.com'],
    ['{{contact.größe}}', 3],
    ['{{total}}', 7.5],
    ['{{paid}}', false],
    ['{{$id}}', 1],
    ['{{input}}', input],
    ['{{input.nodes}}', 'of the input'],
    ['{{nodes.list.rows.0.id}}', 1],
    ['{{now}}', '2026-01-01T00:00:00.000Z'],
  ])('%s', async (text, value) => {
    expect(await resolved(text)).toEqual({ value, warnings: [] })
  })
})

it('puts values into texts, lists and objects, as texts or JSON', async () => {
  const value = { a: ['{{contact.name}} has {{contact.tags}}', { total: '{{total}}' }], b: true, c: null }
  expect((await resolved(value)).value).toEqual({
    a: ['Ada has ["a","b"]', { total: 7.5 }],
    b: true,
    c: null,
  })
})

describe('what is not there is null or empty, and a warning', () => {
  it.each([
    '{{gone}}',
    '{{contact.none}}',
    '{{contact.gone.deeper}}',
    '{{contact.tags.2}}',
    '{{contact.tags.length}}',
    '{{contact.name.length}}',
    '{{contact.name.0}}',
    '{{contact.__proto__}}',
    '{{contact.constructor}}',
    '{{constructor.constructor}}',
    '{{__proto__.polluted}}',
    '{{toString}}',
    '{{nodes.hasOwnProperty}}',
  ])('%s', async text => {
    expect(await resolved(text)).toEqual({ value: null, warnings: [`${text} is empty`] })
    expect(await resolved(`<${text}${text}>`)).toEqual({ value: '<>', warnings: [`${text} is empty`] })
  })
})

describe('anything else stays as it is', () => {
  it.each([
    '{{}}',
    '{{ }}',
    '{{contact.name',
    'contact.name}}',
    '{contact.name}',
    '{{contact[-1]}}',
    '{{contact[name]}}',
    '{{contact["na"me"]}}',
    '{{contact.[0]}}',
    '{{contact..name}}',
    '{{.contact}}',
    '{{contact.}}',
    '{{contact name}}',
    '{{name|upper}}',
    '{{#each tags}}{{/each}}',
    "{{this.constructor.constructor('return process')()}}",
    '{{`process.env`}}',
    '<%= contact %>',
    '{{7*7}}',
    '{{1+1}}',
  ])('%s', async text => {
    expect(await resolved(text)).toEqual({ value: text, warnings: [] })
  })
})

it('does not look through what it has put in', async () => {
  expect((await resolved('{{nested}}')).value).toBe('{{total}}')
  expect((await resolved('<{{nested}}>')).value).toBe('<{{total}}>')
})

it('encodes what is put in, and apart from it the text around', async () => {
  const { fill } = createTemplates(scope)
  const encode = (value: unknown) => encodeURIComponent(String(value))
  expect(await fill('/A/{{contact.tags}}/b', encode, text => text.toLowerCase())).toBe('/a/a%2Cb/b')
})

it('refuses to put in more than anything could use', async () => {
  const templates = createTemplates({ input: { text: 'x'.repeat(1_000_000) } })
  expect(await templates.fill('{{text}}'.repeat(4))).toHaveLength(4_000_000)
  await expect(templates.resolve(['{{text}}'])).rejects.toThrow('{{text}}: is too long')
})

describe('backslashes before braces', () => {
  it.each([
    ['\\{{paid}}', '{{paid}}'],
    ['a \\{{ first name }} b', 'a {{ first name }} b'],
    ['\\{{#if vip}}{{total}}\\{{/if}}', '{{#if vip}}7.5{{/if}}'],
    ['C:\\\\{{total}}', 'C:\\7.5'],
    ['\\\\\\{{total}}', '\\{{total}}'],
    ['a\\b {{total}} \\', 'a\\b 7.5 \\'],
  ])('%s is %s', async (text, value) => {
    expect((await resolved(text)).value).toBe(value)
    expect(templateProblem(text)).toBeUndefined()
  })
})

describe('braces that are no template', () => {
  it.each([
    '{{}}',
    '{{ first name }}',
    '{{ name | upper }}',
    '{{#each tags}}',
    '{{/if}}',
    '{{> header}}',
    '{{{name}}}',
    '{{ 1 + 1 }}',
    '{{ "a" }}',
    '{{contact..name}}',
    '{{items[]}}',
    '{{items[-1]}}',
    '{{name()}}',
    '{{$.name}}}}{{ 2',
    '\\\\{{ x y }}',
  ])('%s', text => {
    const shown = text.replace(/^\\+|^\{\{\$.*\}\}/, '').slice(0, 20)
    expect(templateProblem(`{{ok}} ${text} and more }}`)).toContain(`has ${shown.trim()}`)
  })
})

describe('a text of JSON', () => {
  const hostile = 'a"b\\c\n\u0001\u2028\ud800","admin":true,"x":"'
  const values = { input: { t: hostile, list: [1, 'a"b'], n: 5, none: null, o: { 'k"': hostile } } }
  it.each([
    ['{"text":"{{t}}"}', { text: hostile.toWellFormed().replace('\ufffd', '\ud800') }],
    ['{"text":"<{{ t }}> {{n}}","n":{{n}}}', { text: `<${hostile}> 5`, n: 5 }],
    ['{"all":{{list}},"none":{{none}},"gone":"{{gone}}"}', { all: [1, 'a"b'], none: null, gone: '' }],
    ['{"{{t}}":1}', { [hostile]: 1 }],
    ['["\\"{{t}}\\\\", {{t}}, "{{list}}"]', [`"${hostile}\\`, hostile, '[1,"a\\"b"]']],
    ['{"b":"\\{{t}}","c":"\\\\{{n}}"}', { b: '{{t}}', c: '\\5' }],
    ['{"a":"{{list[1]}}","b":"{{o.gone["x"]}}{{list[\\"0\\"]}}"}', { a: 'a"b', b: '1' }],
    [' {{o}} ', { 'k"': hostile }],
  ])('%s', async (text, value) => {
    const filled = await createTemplates(values).fillJson(text)
    expect(filled).not.toContain('\u2028')
    expect(JSON.parse(filled)).toEqual(value)
  })
})

it('reads long runs of backslashes in JSON in linear time', async () => {
  const text = `{"a":"${'\\'.repeat(200_000)}{{a}}"}`
  expect(await createTemplates({ input: { a: '"' } }).fillJson(text)).toBe(
    text.replace('{{a}}', String.raw`\"`),
  )
})

it('splits a text into paths and what is around them', () => {
  expect(splitTemplates('{{ a.b }} {c} {{d}}')).toEqual({ texts: ['', ' {c} ', ''], paths: ['a.b', 'd'] })
})

const fixtures = process.env.REAL_FIXTURES

it.skipIf(!fixtures)('never evaluates what attackers write (needs REAL_FIXTURES)', async () => {
  const file = join(fixtures ?? '', 'security/templates-and-code.json')
  const { template_expressions } = JSON.parse(readFileSync(file, 'utf8'))
  const person = { contact: { name: 'Ada', tags: ['x'] } }
  const outcomes = await Promise.all(
    template_expressions.map((text: string) => createTemplates({ input: person }).resolve(text)),
  )
  const allowed = ['Ada', '{Ada}', 'x', null]
  for (const [index, outcome] of outcomes.entries())
    expect(allowed.includes(outcome) || outcome === template_expressions[index]).toBe(true)
  expect(Object.prototype).not.toHaveProperty('polluted')
})
