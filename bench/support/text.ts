import { randomNumbers } from './statistics.ts'

const vocabularySize = 6000
const syllables = [
  'ba',
  'den',
  'ko',
  'lir',
  'mu',
  'nas',
  'pel',
  'qua',
  'ri',
  'sto',
  'tur',
  'vex',
  'wi',
  'zon',
]

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

/** Frequent words are short, as in real languages. */
function wordOf(index: number): string {
  let word = ''
  for (let rest = index + 1; rest > 0; rest = Math.floor(rest / syllables.length))
    word += syllables[rest % syllables.length]
  return word
}
