/** A part of a text, decoded on trial. */

/** Samples of at least this length may end within a character. */
const longSampleBytes = 8 * 1024
/** Share of broken characters that a text may have. */
const fewErrors = 0.05

/** A character that the end of a long sample has cut is left out. */
export function decodeSample(sample: Uint8Array, encoding: string): string {
  return new TextDecoder(encoding).decode(sample, { stream: sample.length >= longSampleBytes })
}

export function isBroken(text: string): boolean {
  return count(text, /\ufffd/g) > count(text, beyondAscii) * fewErrors
}

export const beyondAscii = /[^\0-\x7f]/g

export function count(text: string, characters: RegExp): number {
  return text.match(characters)?.length ?? 0
}
