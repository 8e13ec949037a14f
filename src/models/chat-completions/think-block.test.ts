import { describe, expect, test } from 'vitest'
import { createThinkBlock } from './think-block.ts'

/** What was said and thought in the end, and what was shown before it was taken back. */
function read(pieces: readonly string[], holds = false) {
  const seen = { text: '', thoughts: '', retracted: '', unopened: 0 }
  const block = createThinkBlock(
    {
      think(thought) {
        seen.thoughts += thought
      },
      say(text) {
        seen.text += text
      },
      retract() {
        seen.retracted = seen.text
        seen.text = ''
      },
      onUnopened() {
        seen.unopened += 1
      },
    },
    holds,
  )
  for (const piece of pieces) block.take(piece)
  block.end()
  return seen
}

const byCharacter = (text: string) => [...text]

describe.each([
  ['whole', (text: string) => [text]],
  ['by character', byCharacter],
])('a text that comes %s', (_, torn) => {
  test.each<[string, string, string, string]>([
    ['a block', '<think>plan</think>\n\nHello', 'Hello', 'plan'],
    ['a block after blanks', '\n <think>\nplan\n</think> Hello', 'Hello', '\nplan\n'],
    ['another name', '<thinking>plan</thinking>Hello', 'Hello', 'plan'],
    ['a third name', '<thought>plan</thought>Hello', 'Hello', 'plan'],
    ['capitals', '<THINK>plan</Think>Hello', 'Hello', 'plan'],
    ['brackets', '[THINK]plan[/THINK]Hello', 'Hello', 'plan'],
    ['nothing in it', '<think>\n\n</think>\n\nHello', 'Hello', '\n\n'],
    ['nothing at all in it', '<think></think>Hello', 'Hello', ''],
    ['other tags in it', '<think>a <b> < c </think>Hello', 'Hello', 'a <b> < c '],
    ['a quotation at its end', '<think>say "Hi"</think>Hello', 'Hello', 'say "Hi"'],
    ['a quotation at its end, and nothing after it', '<think>say "Hi"</think>', '', 'say "Hi"'],
    ['the word for its end in it', '<think>a `</think>` b</think>Hello', 'Hello', 'a `</think>` b'],
    ['the word for its end in quotation marks', '<think>a “[/THINK]” b</think>Hi', 'Hi', 'a “[/THINK]” b'],
    ['nothing after it', '<think>plan</think>\n', '', 'plan'],
    ['no end', '<think>plan </thin', '', 'plan </thin'],
    ['a second block, which is text', '<think>a</think>b<think>c</think>', 'b<think>c</think>', 'a'],
    ['no block', 'Hello <there>', 'Hello <there>', ''],
    ['the beginning of a tag alone', '<thi', '<thi', ''],
    ['the beginning of a tag at its end', 'a <', 'a <', ''],
    ['another tag', '<table>x</table>', '<table>x</table>', ''],
    ['a block in the middle', 'Say <think>x</think>', 'Say <think>x</think>', ''],
    ['a closing tag as code', 'It ends with `</think>` there', 'It ends with `</think>` there', ''],
    ['an empty text', '', '', ''],
  ])('with %s', (_name, text, said, thoughts) => {
    for (const holds of [false, true])
      expect(read(torn(text), holds)).toMatchObject({ text: said, thoughts, retracted: '', unopened: 0 })
  })

  test.each([
    ['on its line', 'plan\n</think>\n\nHello', 'plan\n'],
    ['on no line of its own', 'plan</think>Hello', 'plan'],
    ['of another name', 'plan</thinking> Hello', 'plan'],
    ['after a quotation', 'say "Hi"</think>Hello', 'say "Hi"'],
    ['at once', '</think>Hello', ''],
  ])('with nothing but a closing tag %s', (_name, text, thoughts) => {
    expect(read(torn(text))).toMatchObject({ text: 'Hello', thoughts, unopened: 1 })
    expect(read(torn(text), true)).toEqual({ text: 'Hello', thoughts, retracted: '', unopened: 1 })
  })
})

test('text before an unforeseen closing tag is taken back, and foreseen it is never shown', () => {
  const pieces = ['secret', ' plan\n', '</think>\n', '\nHello']
  expect(read(pieces)).toMatchObject({ text: 'Hello', retracted: 'secret plan\n' })
  expect(read(pieces, true)).toMatchObject({ text: 'Hello', retracted: '' })
})

test('text is held back, and a closing tag expected, for no more than 32 KB', () => {
  const long = 'x'.repeat(33_000)
  expect(read([long, 'y', '</think>z'])).toMatchObject({ text: `${long}y</think>z`, retracted: '' })
  expect(read([long, 'y', '</think>z'], true)).toMatchObject({ text: `${long}y</think>z`, thoughts: '' })
})
