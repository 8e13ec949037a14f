import { randomNumbers } from './statistics.ts'

const vocabularySize = 6000
/** Made-up English-like text that is the same in every run: words as frequent as in real text (Zipf's law). */
export function createWriter(seed: number) {
  const random = randomNumbers(seed)
  const vocabulary = Array.from({ length: vocabularySize }, (_, index) => wordOf(index))
  /** The rank grows exponentially with the chance, so that each is about as likely as its inverse. */
  const word = () => vocabulary[Math.floor(vocabularySize ** random()) - 1] ?? ''
  const words = (count: number) => Array.from({ length: count }, word).join(' ')

  return {
    words,

    /** Sentences in paragraphs, with at least so many characters. */
    text(characters: number): string {
      const parts: string[] = []
      for (let length = 0; length < characters; ) {
        const sentence = `${words(6 + Math.floor(random() * 16))}.${random() < 0.15 ? '\n\n' : ' '}`
        parts.push(sentence)
        length += sentence.length
      }
      return parts.join('')
    },
  }
}

/** As often as they come in English, by and large. */
const letters =
  'eeeeeeeeeeeetttttttttaaaaaaaaooooooooiiiiiiinnnnnnnsssssshhhhhhrrrrrrddddlllluuucccmmmwwffggyyppbbvk'

/** Frequent words are short, as in real languages, and differ in their letters as much. */
function wordOf(index: number): string {
  const random = randomNumbers(index + 1)
  for (let warmUp = 0; warmUp < 5; warmUp += 1) random()
  const length = 2 + Math.floor(Math.log2(index + 2) / 2 + 4 * random())
  return Array.from({ length }, () => letters[Math.floor(random() * letters.length)]).join('')
}
