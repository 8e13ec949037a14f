import { turn } from '#platform/event-loop/turns.ts'

/** Characters between turns of the event loop. */
const stepLength = 16_384

/**
 * Returns true if a text contains another, by the algorithm of Knuth, Morris and Pratt: in linear time,
 * whereas V8's `includes` and `Buffer.indexOf` compare almost all of the part at each place of some texts.
 */
export async function includesText(whole: string, part: string): Promise<boolean> {
  if (part === '') return true
  const borders = new Int32Array(part.length)
  /** Returns the length of the longest prefix of the part that ends at this character. */
  const extend = (length: number, character: number) => {
    let matched = length
    while (matched > 0 && part.charCodeAt(matched) !== character) matched = borders[matched - 1] ?? 0
    return part.charCodeAt(matched) === character ? matched + 1 : matched
  }
  let matched = 0
  for (let index = 1; index < part.length; index += 1) {
    if (index % stepLength === 0) await turn()
    matched = extend(matched, part.charCodeAt(index))
    borders[index] = matched
  }
  matched = 0
  for (let index = 0; index < whole.length; index += 1) {
    if (index % stepLength === 0) await turn()
    matched = extend(matched, whole.charCodeAt(index))
    if (matched === part.length) return true
  }
  return false
}
