import { describe, expect, it } from 'vitest'
import { splitText } from './split-text.ts'

const limit = 4096

describe('a text is cut', () => {
  it('not at all where it fits', () => {
    expect(splitText('a'.repeat(limit))).toEqual(['a'.repeat(limit)])
    expect(splitText('')).toEqual([''])
  })

  it.each([
    ['between paragraphs', '\n\n'],
    ['between lines', '\n'],
    ['between words', ' '],
  ])('%s', (_where, separator) => {
    const parts = ['a'.repeat(3000), 'b'.repeat(1000), 'c'.repeat(2000)]
    expect(splitText(parts.join(separator))).toEqual([parts.slice(0, 2).join(separator), parts[2]])
  })

  it('between paragraphs rather than lines, and between lines rather than words', () => {
    expect(splitText(`one\n\n${'word '.repeat(700)}\n${'b'.repeat(1000)}`)[0]).toBe('one')
    expect(splitText(`one\n${'word '.repeat(900)}`)[0]).toBe('one')
  })

  it('after exactly as many characters as a message takes', () => {
    expect(splitText(`${'a'.repeat(limit)}\n\nb`)).toEqual(['a'.repeat(limit), 'b'])
  })

  it.each(['👩🏽‍🚀', 'e\u0301', '🇩🇪'])('not within the character %s', character => {
    const text = `a${character.repeat(4000)}`
    const parts = splitText(text)
    expect(parts.join('')).toBe(text)
    for (const part of parts) {
      expect(part.length).toBeLessThanOrEqual(limit)
      expect(part.replace('a', '').length % character.length).toBe(0)
    }
  })

  it('within a character that is too long for a message', () => {
    const text = `e${'\u0301'.repeat(5000)}`
    expect(splitText(text).map(part => part.length)).toEqual([limit, 5001 - limit])
  })

  it('into no message of blanks', () => {
    const blanks = ' \n'.repeat(3000)
    expect(splitText(`${blanks}${'a'.repeat(3000)}${blanks}b${blanks}`)).toEqual(['a'.repeat(3000), 'b'])
  })
})
