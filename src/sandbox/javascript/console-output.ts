import { bounds } from './limits.ts'
import type { ConsoleLine } from './outcome.ts'

/** Passes on the console lines of code, up to a limit of lines and characters, which a last line reports. */
export function createConsoleOutput(send: (line: ConsoleLine) => void) {
  let lines = 0
  let characters = 0
  let isFull = false

  return function write({ level, text }: ConsoleLine): void {
    if (isFull) return
    const { consoleLines, consoleCharacters } = bounds
    const keptText = text.slice(0, consoleCharacters - characters)
    lines += 1
    characters += keptText.length
    send({ level, text: keptText })
    if (lines < consoleLines && keptText.length === text.length && characters < consoleCharacters) return
    isFull = true
    send({ level: 'warn', text: '[What was written after this was left out: it is too much.]' })
  }
}
