import picomatch from 'picomatch'
import { describe, expect, test } from 'vitest'
import { compileGlob } from './glob.ts'
import { compilePatterns, patternProblem } from './url-patterns.ts'

const ordinary = [
  '**',
  '*',
  '/docs/**',
  '/docs/*',
  '/*',
  'http://example.com/*',
  '**/*.html',
  '**/docs/**',
  '/docs/**/api/*.html',
  '/docs/{a,b}/*.html',
  '/{blog,news/{2024,2025}}/*',
  '/page-?.html',
  '/page-[0-9].html',
  '/[abc]*',
  'http://example.com/**',
  'http://*/docs/*',
  'https://example.com/docs',
]

const texts = [
  '/',
  '/docs',
  '/docs/a/',
  '/docs/a',
  '/docs/a/b',
  '/docs/a/x.html',
  '/docs/c/x.html',
  '/docs/api/x.html',
  '/docs/v1/v2/api/x.html',
  '/index.html',
  '/a/index.html',
  '/blog/one',
  '/news/2024/one',
  '/news/2026/one',
  '/page-1.html',
  '/page-x.html',
  '/page-12.html',
  '/.hidden/x.html',
  '/x-docs-y/z',
  'http://example.com/',
  'http://example.com/docs/a',
  'http://example.com/docs/a/b',
  'https://example.com/docs',
]

describe('a glob', () => {
  test.each(ordinary)('%s matches what picomatch says', pattern => {
    const [ours, theirs] = [compileGlob(pattern), picomatch(pattern, { dot: true })]
    expect(texts.filter(ours)).toEqual(texts.filter(text => theirs(text)))
  })

  test.each([
    ['[', '[', true],
    ['{a,b', '{a,b', true],
    ['{a}', '{a}', true],
    [String.raw`\*`, '*', true],
    [String.raw`\*`, 'a', false],
    ['', '', true],
    ['/search?q=*', '/searchXq=tea', true],
    ['/😀?', '/😀x', true],
    ['/docs/**', '/docsx', false],
    ['[]]', ']', true],
    ['[a-]', '-', true],
    ['/page-[!0-9].html', '/page-x.html', true],
    ['/page-[!0-9].html', '/page-1.html', false],
    ['/docs/', '/docs', true],
    ['/docs/', '/docs/', true],
    ['/{docs,blog}/', '/blog', true],
    ['/docs/', '/docs/a', false],
    ['/docs/*', '/docs/', false],
    ['/docs/*', '/docs/a/', true],
    ['/docs/**/*', '/docs/', false],
    ['/', '/', true],
    ['/', '/a', false],
    ['/**/index.html', '/index.html', true],
    ['/**/index.html', '/a/b/index.html', true],
    ['/**/index.html', '/aindex.html', false],
  ])('%j matches %j: %s', (pattern, text, expected) => {
    expect(compileGlob(pattern)(text)).toBe(expected)
  })

  test.each(['*a'.repeat(60), '**a'.repeat(60), '**/a*/'.repeat(30), '?'.repeat(199), `${'*'.repeat(100)}b`])(
    '%s takes no more time than its length and that of the text account for',
    pattern => {
      const glob = compileGlob(`${pattern}b`)
      const begun = process.cpuUsage()
      expect(glob('a'.repeat(2_000))).toBe(false)
      expect(glob(`/${'a/'.repeat(999)}`)).toBe(false)
      expect(process.cpuUsage(begun).user / 1000).toBeLessThan(2_000)
    },
  )

  test('of braces upon braces is refused instead of written out', () => {
    expect(patternProblem('{a,b}'.repeat(6))).toBeUndefined()
    expect(patternProblem('{a,b}'.repeat(7))).toMatch(/braces/)
    expect(patternProblem('{a,b}'.repeat(40))).toMatch(/braces/)
  })

  test.each(['!(x)', '/@(a|b)', '+(a|aa)+(a|aa)'])('%s is refused, since it would match nothing', pattern => {
    expect(patternProblem(pattern)).toMatch(/extended/)
  })
})

describe('patterns', () => {
  const address = 'https://example.com/docs/a.html?print=1'

  test.each([
    [[], [], true],
    [['/docs/**'], [], true],
    [['https://example.com/docs/**'], [], true],
    [['/blog/**'], [], false],
    [['/blog/**', '/docs/**'], [], true],
    [['/docs/**'], ['**/*.html'], false],
    [[], ['/docs/**'], false],
    [[], ['**?print=*'], false],
  ])('that include %j and exclude %j: %s', (include, exclude, expected) => {
    expect(compilePatterns({ include, exclude })(address)).toBe(expected)
  })

  test.each([
    '/café/*',
    '/caf%C3%A9/*',
    '/caf%c3%a9/*',
    '/%63af%C3%A9/',
    '**/café/**',
    'http://example.com/café/*',
  ])('%s means escapes, too', pattern => {
    const isWanted = compilePatterns({ include: [pattern], exclude: [] })
    const page = pattern.endsWith('/') ? '' : '/a'
    expect(isWanted(`http://example.com/caf%C3%A9${page}`)).toBe(true)
  })
})
