/** Tracks a JSON text that arrives in pieces. Each piece is read once, regardless of later ones. */
export interface JsonProgress {
  /** Takes the next piece. */
  advance(piece: string): void
  /** Returns true if there was only white space so far. */
  isBlank(): boolean
  /** Returns true if one object is complete without text after it. Its content is not checked. */
  isCompleteObject(): boolean
}

type State = 'blank' | 'open' | 'complete' | 'other'

export function createJsonProgress(): JsonProgress {
  let state: State = 'blank'
  let depth = 0
  let isInString = false
  let isEscaped = false

  function takeInString(character: string): void {
    if (isEscaped) isEscaped = false
    else if (character === '\\') isEscaped = true
    else if (character === '"') isInString = false
  }

  function takeInObject(character: string): void {
    if (character === '"') isInString = true
    else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
    if (depth === 0) state = 'complete'
  }

  function take(character: string): void {
    if (isInString) takeInString(character)
    else if (state === 'open') takeInObject(character)
    else if (character.trim() !== '') {
      state = state === 'blank' && character === '{' ? 'open' : 'other'
      depth = 1
    }
  }

  return {
    advance(piece) {
      for (let at = 0; at < piece.length && state !== 'other'; at += 1) take(piece.charAt(at))
    },
    isBlank: () => state === 'blank',
    isCompleteObject: () => state === 'complete',
  }
}
