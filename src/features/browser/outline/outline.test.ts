import { describe, expect, it } from 'vitest'
import { createMask, maskWithin } from '../secrets/mask.ts'
import { type OutlineOptions, outlineCharacters, outlineOf } from './outline.ts'
import type { SnapshotNode } from './snapshot.ts'

const at = (y: number, height = 20) => ({ x: 0, y, width: 100, height })
const read = (nodes: SnapshotNode[], options: Partial<OutlineOptions> = {}) =>
  outlineOf(nodes, { viewportHeight: 700, mask: text => text, ...options }).text

const paragraphs = (count: number): SnapshotNode[] =>
  Array.from({ length: count }, (_, index) => ({
    role: 'paragraph',
    text: `Paragraph ${index} of a long page`,
    ref: `p${index}`,
    box: at(index * 40),
  }))

describe('an outline', () => {
  it('leaves out wrappers, and shows states and references of what can be used', () => {
    const page: SnapshotNode[] = [
      {
        role: 'generic',
        ref: 'e1',
        box: at(0, 500),
        children: [
          { role: 'heading', name: 'Shop', level: 1, ref: 'e2', box: at(0) },
          'Loose text',
          {
            role: 'list',
            ref: 'e3',
            children: [
              {
                role: 'listitem',
                ref: 'e4',
                children: [{ role: 'link', name: 'Tea', ref: 'e5', url: '/tea' }],
              },
            ],
          },
          { role: 'checkbox', name: 'Gift', ref: 'e6', checked: true, disabled: true },
          { role: 'button', ref: 'e7' },
        ],
      },
    ]
    expect(read(page).split('\n')).toEqual([
      'heading "Shop" [level=1]',
      'text: Loose text',
      'link "Tea" [ref=e5] → /tea',
      'checkbox "Gift" [checked] [disabled] [ref=e6]',
      'button [ref=e7]',
    ])
  })

  it('shows what is nearest to the window, and counts the rest', () => {
    const scrolled = paragraphs(3000).map(node => ({ ...node, box: at((node.box?.y ?? 0) - 60_000) }))
    const text = read(scrolled)
    expect(text.length).toBeLessThanOrEqual(outlineCharacters)
    expect(text).toContain('Paragraph 1505 ')
    expect(text).not.toContain('Paragraph 0 ')
    const [above, below] = [...text.matchAll(/([\d,]+) more (?:above|below)/g)].map(([, number]) =>
      Number(number?.replace(',', '')),
    )
    const shown = text.split('\n').length - 1
    expect((above ?? 0) + (below ?? 0) + shown).toBe(3000)
    expect(text.indexOf('Paragraph 1501 ')).toBeLessThan(text.indexOf('Paragraph 1502 '))
  })

  it('places what is in a frame where the frame is', () => {
    const frame: SnapshotNode = { role: 'iframe', ref: 'e1', box: at(5000, 900), children: paragraphs(10) }
    expect(read([...paragraphs(2), frame], { characters: 450 })).toMatch(/Paragraph 1 .*more below/s)
    expect(read([...paragraphs(2), frame], { characters: 450 })).not.toContain('\n Paragraph')
  })

  it('finds words, and reads one part', () => {
    const form: SnapshotNode = {
      role: 'form',
      name: 'Search',
      ref: 'e9',
      children: [{ role: 'button', name: 'Go', ref: 'e10' }],
    }
    const page = [...paragraphs(1000), form, ...paragraphs(3)]
    expect(read(page, { find: 'PARAGRAPH 999' }).split('\n')).toEqual([
      '1 line was found with this text.',
      'paragraph: Paragraph 999 of a long page',
    ])
    expect(read(page, { find: 'nothing' })).toBe('0 lines were found with this text.')
    expect(read(page, { ref: 'e9' }).split('\n')).toEqual([
      'form "Search" [ref=e9]',
      ' button "Go" [ref=e10]',
    ])
  })

  it('shows only what is new, where that is wanted', () => {
    const { lines } = outlineOf(paragraphs(5), { viewportHeight: 700, mask: text => text })
    const known = new Set(lines.map(({ key }) => key))
    expect(read(paragraphs(6), { known })).toBe('paragraph: Paragraph 5 of a long page')
  })

  it.each([
    ['texts', () => [{ role: 'paragraph', text: 'x '.repeat(1_000_000) }]],
    ['names', () => [{ role: 'button', name: 'y'.repeat(1_000_000) }]],
    ['addresses', () => [{ role: 'link', name: 'z', url: `/${'z'.repeat(1_000_000)}` }]],
    [
      'depth',
      () => {
        let node: SnapshotNode = { role: 'button', name: 'deepest' }
        for (let depth = 0; depth < 2000; depth += 1)
          node = { role: 'group', name: `level ${depth}`, children: [node] }
        return [node]
      },
    ],
    ['lines', () => paragraphs(20_000)],
  ])('has at most its characters whatever the %s', (_what, nodes) => {
    expect(read(nodes()).length).toBeLessThanOrEqual(outlineCharacters)
    expect(read(nodes(), { find: 'e' }).length).toBeLessThanOrEqual(outlineCharacters)
  })
})

describe('a mask', () => {
  it.each([
    ['You typed sesame-77.', 'You typed ********.'],
    ['/done?p=sesame-77&q=1', '/done?p=********&q=1'],
    ['/done?p=a%20b%26c', '/done?p=********'],
    ['/done?p=a+b%26c', '/done?p=********'],
    ['The code 123 and 1234', 'The code ******** and 1234'],
    ['Nothing of it', 'Nothing of it'],
  ])('makes %j to %j', (text, masked) => {
    expect(createMask(['sesame-77', 'a b&c', '123', ' ', ''])(text)).toBe(masked)
  })

  it('reaches every text of a value, and leaves the others', () => {
    const mask = createMask(['sesame'])
    expect(maskWithin({ a: ['sesame', 1, null], 'sesame b': true }, mask)).toEqual({
      a: ['********', 1, null],
      '******** b': true,
    })
  })
})
