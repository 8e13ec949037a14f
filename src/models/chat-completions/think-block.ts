/** The tags between which models write their thoughts before their answer. */
const names = ['think', 'thinking', 'thought']
const openings = [...names.map(name => `<${name}>`), '[think]']
const tags = [...openings, ...names.map(name => `</${name}>`), '[/think]']
const openingTag = String.raw`(?:<(?:${names.join('|')})>|\[THINK\])`
const closingTag = String.raw`(?:</(?:${names.join('|')})>|\[/THINK\])`
const opening = new RegExp(`^${openingTag}`, 'i')
/** Matches the tag, except in quotation marks and code; the next character might not have arrived. */
const closing = new RegExp(`(?<closing>(?<![\`'"“‘])${closingTag}|${closingTag}(?![\`'"”’]|$))`, 'i')
const closedAtEnd = new RegExp(`${closingTag}$`, 'i')
/** Matches the first tag: an opening one means that the text is about such tags. */
const aboutThoughts = new RegExp(`${closing.source}|${openingTag}`, 'i')
const longestTag = Math.max(...tags.map(tag => tag.length))

/**
 * Max characters in which a closing tag without an opening one is searched; at most as many are held back.
 */
const maxCharacters = 32_768

/** Separates thoughts at the beginning of an answer's text from the answer, even if the text is torn. */
export interface ThinkBlock {
  take(text: string): void
  /** Stops holding text back because thoughts arrive in a field of their own. */
  release(): void
  /** Takes the end of the text. */
  end(): void
}

interface Sink {
  think(text: string): void
  say(text: string): void
  /** Retracts the emitted text, which turns out to be thoughts. */
  retract(): void
  /** Called for a closing tag without an opening one. */
  onUnopened(): void
}

type State = 'start' | 'thinking' | 'gap' | 'watching' | 'answer'

/**
 * Creates a block. Templates of some models open the block themselves, so only its closing tag arrives. If
 * `holds`, text is held back until that tag, the end or the maximum; else it is retracted at the tag.
 */
export function createThinkBlock(sink: Sink, holds: boolean): ThinkBlock {
  return new Block(sink, holds)
}

class Block implements ThinkBlock {
  readonly #sink: Sink
  #state: State = 'start'
  /** Text that is not examined yet, or that might be the beginning of a tag. */
  #rest = ''
  /** The last character before `#rest`. */
  #last = ''
  /** The text so far, while a closing tag can still arrive. */
  #text = ''
  #isHeld: boolean

  constructor(sink: Sink, holds: boolean) {
    this.#sink = sink
    this.#isHeld = holds
  }

  take(piece: string): void {
    this.#rest += piece
    this[this.#state]()
  }

  release(): void {
    if (this.#isHeld && this.#text !== '') this.#sink.say(this.#text)
    this.#isHeld = false
  }

  end(): void {
    // No text follows that could quote the tag.
    if (closedAtEnd.test(this.#rest)) this.take('\n')
    if (this.#state === 'watching') this.release()
    if (this.#rest === '' || this.#state === 'gap') return
    if (this.#state === 'thinking') this.#sink.think(this.#rest)
    else this.#sink.say(this.#rest)
  }

  #move(next: State): void {
    this.#state = next
    this[next]()
  }

  private start(): void {
    const begun = this.#rest.trimStart()
    const tag = opening.exec(begun)?.[0]
    if (tag !== undefined) {
      this.#rest = begun.slice(tag.length)
      this.#move('thinking')
    } else if (!openings.some(each => each.startsWith(begun.toLowerCase()))) this.#move('watching')
  }

  private thinking(): void {
    const tag = closing.exec(this.#last + this.#rest)
    if (tag === null) {
      this.#passOn(thought => this.#sink.think(thought))
      return
    }
    const at = tag.index - this.#last.length
    if (at > 0) this.#sink.think(this.#rest.slice(0, at))
    this.#rest = this.#rest.slice(at + tag[0].length)
    this.#move('gap')
  }

  private gap(): void {
    this.#rest = this.#rest.trimStart()
    if (this.#rest !== '') this.#move('answer')
  }

  private watching(): void {
    const mayHaveTag = this.#rest.includes('<') || this.#rest.includes('[')
    const tag = mayHaveTag ? aboutThoughts.exec(this.#last + this.#rest) : null
    if (tag?.groups?.closing !== undefined) this.#takeBack(tag.index - this.#last.length, tag[0])
    else if (this.#text.length > maxCharacters || tag !== null) {
      this.release()
      this.#move('answer')
    } else this.#passOn(text => this.#sayForNow(text))
  }

  #sayForNow(text: string): void {
    this.#text += text
    if (!this.#isHeld) this.#sink.say(text)
  }

  private answer(): void {
    if (this.#rest !== '') this.#sink.say(this.#rest)
    this.#rest = ''
  }

  #takeBack(at: number, tag: string): void {
    const thoughts = this.#text + this.#rest.slice(0, at)
    this.#rest = this.#rest.slice(at + tag.length)
    if (!this.#isHeld && this.#text !== '') this.#sink.retract()
    if (thoughts !== '') this.#sink.think(thoughts)
    this.#sink.onUnopened()
    this.#move('gap')
  }

  /** Emits the rest, except for the beginning of a tag at its end. */
  #passOn(pass: (text: string) => void): void {
    const at = this.#rest.length - beginningOfTag(this.#rest)
    const passed = this.#rest.slice(0, at)
    this.#rest = this.#rest.slice(at)
    if (passed === '') return
    this.#last = passed.slice(-1)
    pass(passed)
  }
}

/** Returns the length of a possible tag's beginning at the text's end. */
function beginningOfTag(text: string): number {
  const at = Math.max(text.lastIndexOf('<'), text.lastIndexOf('['))
  const length = text.length - at
  if (at < 0 || length > longestTag) return 0
  const tail = text.slice(at).toLowerCase()
  return tags.some(tag => tag.startsWith(tail)) ? length : 0
}
