import { describe, expect, it } from 'vitest'
import { readInput } from './input.schema.ts'
import { shortcutModifiers, textOf, virtualKeyOf } from './keyboard.ts'

describe('a message of a client', () => {
  const press = { type: 'mouseEvent', pageId: 'A', x: 1, y: 2, button: 'left' }

  it('has the same meaning in the flat shape and in that of steel-browser', () => {
    const flat = readInput({ ...press, event: 'mousePressed' })
    const { type, pageId, ...fields } = press
    expect(flat).toMatchObject({ event: 'mousePressed', x: 1, y: 2, button: 'left', pageId: 'A' })
    expect(readInput({ type, pageId, event: { type: 'mousePressed', ...fields } })).toEqual(flat)
    const key = { key: 'a', code: 'KeyA', modifiers: 2 }
    expect(readInput({ type: 'keyEvent', event: { type: 'keyDown', keyCode: 65, ...key } })).toMatchObject({
      event: 'keyDown',
      ...key,
    })
    const address = 'https://example.com'
    expect(readInput({ type: 'navigation', event: { url: address } })).toMatchObject({
      action: 'goto',
      url: address,
    })
    expect(readInput({ type: 'navigation', event: { action: 'back' } })).toMatchObject({ action: 'back' })
    expect(readInput({ type: 'keyEvent', event: { type: 'char', text: '漢' } })).toMatchObject({ text: '漢' })
  })

  it.each([
    {},
    { type: 'unknown' },
    { type: 'constructor' },
    { type: '__proto__' },
    { type: 7 },
    { ...press, event: 'mouseExploded' },
    { ...press, event: 'mouseMoved', x: '1' },
    { ...press, event: 'mouseMoved', x: null },
    { ...press, event: 'mouseMoved', x: 1e9 },
    { ...press, event: 'mouseMoved', button: 'fourth' },
    { ...press, event: ['mouseMoved'] },
    { type: 'mouseEvent', event: 'mouseMoved' },
    { type: 'keyEvent', event: 'keyDown' },
    { type: 'keyEvent', event: 'keyDown', key: 'a', modifiers: 16 },
    { type: 'keyEvent', event: 'keyDown', key: 'a', modifiers: 1.5 },
    { type: 'keyEvent', event: 'keyDown', key: 'x'.repeat(51) },
    { type: 'navigation', action: 'jump' },
    { type: 'activateTab' },
    { type: 'insertText', text: 'x'.repeat(32_001) },
    { type: 'hide' },
    { type: 'extend', seconds: -1 },
  ])('is refused with impossible values: %j', message => {
    expect(readInput(message)).toBeUndefined()
  })
})

describe('a key', () => {
  it.each([
    [{ key: 'a' }, 'a'],
    [{ key: 'é' }, 'é'],
    [{ key: '你' }, '你'],
    [{ key: '🙂' }, '🙂'],
    [{ key: 'Enter' }, '\r'],
    [{ key: 'Tab' }, undefined],
    [{ key: 'ArrowLeft' }, undefined],
    [{ key: 'a', modifiers: 2 }, undefined],
    [{ key: 'c', modifiers: 4 }, undefined],
    [{ key: 'A', modifiers: 8 }, 'A'],
    [{ key: '@', modifiers: 3 }, '@'],
    [{ key: 'Dead', text: '´' }, '´'],
  ])('%j writes %j', (key, text) => {
    expect(textOf(key)).toBe(text)
  })

  it.each([
    [{ key: 'a', code: 'KeyQ' }, 81],
    [{ key: 'a' }, 65],
    [{ key: '1', code: 'Digit1' }, 49],
    [{ key: 'Enter' }, 13],
    [{ key: ' ' }, 32],
    [{ key: 'F5' }, 116],
    [{ key: 'x', keyCode: 42 }, 42],
    [{ key: '你' }, 0],
  ])('%j has the virtual key %i', (key, code) => {
    expect(virtualKeyOf(key)).toBe(code)
  })
})

describe('the third character on a key', () => {
  it.each([
    [{ key: '@', code: 'KeyQ', modifiers: 3 }, 0],
    [{ key: '{', code: 'Digit7', modifiers: 3 }, 0],
    [{ key: '|', modifiers: 3 }, 0],
    [{ key: '¿', code: 'Minus', modifiers: 11 }, 8],
    [{ key: 'ß', code: 'KeyS', modifiers: 1 }, 0],
    [{ key: 't', code: 'KeyT', modifiers: 3 }, 3],
    [{ key: 'a', code: 'KeyA', modifiers: 1 }, 1],
    [{ key: 'a', modifiers: 2 }, 2],
    [{ key: 'ArrowDown', modifiers: 1 }, 1],
    [{ key: ' ', code: 'Space', modifiers: 3 }, 3],
  ])('comes without the modifiers that select it: %j', (key, modifiers) => {
    expect(shortcutModifiers(key)).toBe(modifiers)
  })
})
