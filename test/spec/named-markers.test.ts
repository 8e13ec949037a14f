import { describe, expect, it } from 'vitest'
import { namedMarkers } from './named-markers.ts'

const agents = "row('GET /api/agents')"

describe('namedMarkers', () => {
  it.each([
    ['a test whose title is the marker', `it(${agents}, () => {})`],
    ['a title with words around the marker', `it(\`\${${agents}} lists by name\`, async () => {})`],
    ['a suite', `describe(${agents}, () => {})`],
    ['a test inside a suite', `describe('agents', () => { it(${agents}, () => {}) })`],
    ['a suite with modifiers', `describe.concurrent(${agents}, () => {})`],
    ['a table of tests', `it.each([1, 2])(\`\${${agents}} takes %i\`, () => {})`],
    ['a table written as a template', `test.each\`a\${1}\`(${agents}, () => {})`],
    ['a test in a typed source', `const count: number = 1 as const\nit(${agents}, () => {})`],
  ])('finds %s', (_, source) => {
    expect(namedMarkers(source)).toEqual(new Set(['[GET /api/agents]']))
  })

  it.each([
    ['a commented-out test', `// it(${agents}, () => {})`],
    ['a test in a block comment', `/*\nit(${agents}, () => {})\n*/`],
    ['a string that looks like a test', `it("${agents}", () => {})`],
    ['a call outside a title', `it('lists', () => { ${agents} })`],
    ['a skipped test', `it.skip(${agents}, () => {})`],
    ['a planned test', `it.todo(${agents})`],
    ['a test that runs on a condition', `it.skipIf(true)(${agents}, () => {})`],
    ['a test inside a skipped suite', `describe.skip('agents', () => { it(${agents}, () => {}) })`],
    ['a computed argument', 'it(row(id), () => {})'],
    ['an error row without a status', "it(errorRow('chat'), () => {})"],
    ['another function', "it(name('GET /api/agents'), () => {})"],
  ])('leaves out %s', (_, source) => {
    expect(namedMarkers(source)).toEqual(new Set())
  })

  it('finds every kind of marker, several to a title', () => {
    const calls = ["errorRow('agents', 409)", "limitRow('page-size')", "streamEvent('thinking')"]
    const title = calls.map(call => `\${${call}}`).join(' ')
    expect(namedMarkers(`it(\`${title}\`, () => {})`)).toEqual(
      new Set(['[error agents 409]', '[limit page-size]', '[stream thinking]']),
    )
  })
})
